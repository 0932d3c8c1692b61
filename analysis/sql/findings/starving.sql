-- CPUs that the run of a process ($process_id) could use (NULL: not known), and what the process does
-- longest in its loop.
SELECT MAX(cores) AS cores, ARG_MAX(training_loop.operation, duration_ns) AS operation,
  MAX(duration_ns) AS duration_ns
FROM training_loop JOIN process USING (process_id) LEFT JOIN host USING (host_id)
WHERE process_id = $process_id

-- How long a line ($file, $line) takes in operations of the training loop of a process ($process_id), and how
-- much of it in functions of libraries that it calls.
SELECT CAST(COALESCE(SUM(own_ns), 0) AS DOUBLE) AS own_ns,
  CAST(COALESCE(SUM(own_ns - self_ns), 0) AS DOUBLE) AS library_ns
FROM source_line
WHERE process_id = $process_id AND file = $file AND line = $line AND stage IN ('loop', 'whole')
  AND layer IN ('python', 'framework')

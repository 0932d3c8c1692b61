-- How long an operation ($operation) takes a process ($process_id), with half of the 95 % interval of the
-- mean.
SELECT COUNT(*) AS entries, CAST(AVG(duration_ns) AS DOUBLE) AS mean_ns,
  CAST(1.96 * COALESCE(STDDEV_SAMP(duration_ns), AVG(duration_ns)) / SQRT(COUNT(*)) AS DOUBLE) AS half_ns
FROM operation_instance JOIN operation USING (operation_id)
WHERE process_id = $process_id AND path = $operation
HAVING COUNT(*) > 0

-- Readings of the machine over time, each metric in at most $points groups of equal length: of
-- whole machines (process_id NULL) and of the $processes processes with the most CPU time read.
--   start_ns  the group's first reading, since the run began
WITH _span AS (
  SELECT MIN(start_ns) AS first_ns, MAX(start_ns) - MIN(start_ns) + 1 AS length_ns
  FROM machine_sample
), _largest AS (
  SELECT process_id FROM machine_sample
  WHERE process_id IS NOT NULL AND metric = 'cpu_percent'
  GROUP BY process_id ORDER BY SUM(value) DESC, process_id LIMIT $processes
), _group AS (
  SELECT machine_sample.*,
    CAST((start_ns - first_ns) AS HUGEINT) * $points // length_ns AS point
  FROM machine_sample, _span
  WHERE process_id IS NULL OR process_id IN (FROM _largest)
)
SELECT host_id, host.name AS host, process_id, process.name AS process, os_pid, metric,
  CAST(point AS BIGINT) AS point,
  MIN(_group.start_ns) - (SELECT MIN(start_ns) FROM run) AS start_ns,
  AVG(value) AS mean, MAX(value) AS max, COUNT(*) AS readings
FROM _group LEFT JOIN host USING (host_id) LEFT JOIN process USING (process_id)
GROUP BY ALL
ORDER BY host_id, process_id NULLS FIRST, metric, point

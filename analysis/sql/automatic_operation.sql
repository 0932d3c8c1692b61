-- Operations that rlscope found by itself, over all processes.
--   rule         how; NULL when no process said
--   instances    entries
--   duration_ns  while it was the operation of its process
--   share        of the time that the processes with automatic operations spent in operations
WITH _time AS (
  SELECT operation AS path, SUM(duration_ns) AS duration_ns FROM breakdown
  WHERE source = 'automatic' GROUP BY operation
), _inside AS (
  SELECT SUM(duration_ns) AS inside_ns FROM breakdown
  WHERE source IS NOT NULL
    AND process_id IN (SELECT process_id FROM breakdown WHERE source = 'automatic')
)
SELECT path AS operation, rule, COUNT(instance.operation_id) AS instances,
  CAST(COALESCE(ANY_VALUE(_time.duration_ns), 0) AS BIGINT) AS duration_ns,
  COALESCE(ANY_VALUE(_time.duration_ns) / (SELECT inside_ns FROM _inside), 0) AS share
FROM operation LEFT JOIN operation_instance AS instance USING (operation_id)
  LEFT JOIN _time USING (path)
WHERE source = 'automatic'
GROUP BY path, rule
ORDER BY share DESC, operation
LIMIT $operations

-- Operations that rlscope found by itself, over all processes.
--   rule         how; NULL when no process reported it
--   instances    entries
--   duration_ns  while it was the operation of its process
--   loop_ns      the part of it in the training loop, or in a process without one
WITH _time AS (
  SELECT operation AS path, SUM(duration_ns) AS duration_ns,
    SUM(duration_ns) FILTER (stage IN ('loop', 'whole')) AS loop_ns FROM breakdown
  WHERE source = 'automatic' GROUP BY operation
)
SELECT path AS operation, rule, COUNT(instance.operation_id) AS instances,
  CAST(COALESCE(ANY_VALUE(_time.duration_ns), 0) AS BIGINT) AS duration_ns,
  CAST(COALESCE(ANY_VALUE(_time.loop_ns), 0) AS BIGINT) AS loop_ns
FROM operation LEFT JOIN operation_instance AS instance USING (operation_id)
  LEFT JOIN _time USING (path)
WHERE source = 'automatic'
GROUP BY path, rule
ORDER BY duration_ns DESC, operation
LIMIT $operations

-- Operations that rlscope found by itself, over the processes that count in shares.
--   rule         how; NULL when no process reported it
--   instances    entries; NULL where those before some time are not there (rls-prof --rollup)
--   duration_ns  while it was the operation of its process
--   loop_ns      the part of it in the training loop, or in a process without one
-- uses: counted_process, kept_from
WITH _time AS (
  SELECT operation AS path, SUM(duration_ns) AS duration_ns,
    SUM(duration_ns) FILTER (stage IN ('loop', 'whole')) AS loop_ns
  FROM breakdown
  WHERE source = 'automatic' AND process_id IN (FROM counted_process) GROUP BY operation
), _instance AS (
  SELECT operation_id, COUNT(*) AS instances FROM operation_instance
  WHERE process_id IN (FROM counted_process) GROUP BY operation_id
)
SELECT path AS operation, rule,
  IF(EXISTS (FROM kept_from), NULL, CAST(COALESCE(SUM(instances), 0) AS BIGINT)) AS instances,
  CAST(COALESCE(ANY_VALUE(_time.duration_ns), 0) AS BIGINT) AS duration_ns,
  CAST(COALESCE(ANY_VALUE(_time.loop_ns), 0) AS BIGINT) AS loop_ns
FROM operation LEFT JOIN _instance USING (operation_id) LEFT JOIN _time USING (path)
WHERE source = 'automatic' AND COALESCE(instances, _time.duration_ns) IS NOT NULL
GROUP BY path, rule
ORDER BY duration_ns DESC, operation
LIMIT $operations

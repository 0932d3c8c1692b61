-- Time of the training loops in which no thread ran, although no wait was recorded: blocked in native
-- code, by operation. Of processes that count in shares.
--   operation_ns  its time in the loops; loop_ns: the whole of them
--   blocked_ns, and the ends of its interval  estimates: the thread states were read now and then
-- A wait for a compiled function of JAX or TensorFlow is that operation already, and is left out. So is
-- time in calls of CUDA, which say themselves what they wait for.
-- uses: counted_process
WITH _loop AS (
  SELECT * FROM blocked WHERE stage = 'loop' AND process_id IN (FROM counted_process)
    AND operation <> '(not recorded)'
), _operation AS (
  SELECT operation, COALESCE(SUM(blocked_ns) FILTER (is_native), 0) AS blocked_ns,
    COALESCE(SUM(blocked_low_ns) FILTER (is_native), 0) AS blocked_low_ns,
    COALESCE(SUM(blocked_high_ns) FILTER (is_native), 0) AS blocked_high_ns,
    COALESCE(SUM(readings) FILTER (is_native), 0) AS readings, SUM(duration_ns) AS operation_ns
  FROM (SELECT *, layer IN ('python', 'simulator', 'framework') AS is_native FROM _loop)
  GROUP BY operation
)
SELECT operation, CAST(blocked_ns AS BIGINT) AS blocked_ns,
  CAST(blocked_low_ns AS BIGINT) AS blocked_low_ns,
  CAST(blocked_high_ns AS BIGINT) AS blocked_high_ns, CAST(readings AS BIGINT) AS readings,
  CAST(operation_ns AS BIGINT) AS operation_ns,
  CAST(SUM(operation_ns) OVER () AS BIGINT) AS loop_ns
FROM _operation
QUALIFY blocked_ns > 0 AND NOT regexp_matches(operation, '(^|/)(compiled|update):')
ORDER BY blocked_ns DESC, operation
LIMIT $rows

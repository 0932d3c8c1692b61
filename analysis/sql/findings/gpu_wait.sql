-- Calls of a process ($process_id) that wait for its GPU, in order, in the $iterations complete iterations in
-- the middle of its loop.
--   waited_ns  the part of the call in which GPU work of the process ran
--   idle_ns    time after it, until the next such call, in which none ran
-- uses: own_iteration
WITH _iteration AS (
  SELECT iteration, start_ns, start_ns + duration_ns AS end_ns FROM own_iteration
  WHERE process_id = $process_id
  QUALIFY ABS(ROW_NUMBER() OVER (ORDER BY start_ns) - COUNT(*) OVER () / 2) <= $iterations / 2
), _span AS (
  SELECT MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns FROM _iteration
), _event AS (
  SELECT event.*, start_ns + event.duration_ns AS end_ns FROM event, _span
  WHERE process_id = $process_id AND start_ns < last_ns AND start_ns + event.duration_ns > first_ns
), _work AS (
  SELECT correlation_id, start_ns, end_ns,
    start_ns <= MAX(end_ns) OVER (ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING
      AND 1 PRECEDING) AS is_joined
  FROM _event WHERE kind IN ('kernel', 'memcpy', 'memset', 'graph')
), _busy AS (
  SELECT MIN(start_ns) AS start_ns, MAX(end_ns) AS end_ns FROM (
    SELECT *, COUNT(*) FILTER (is_joined IS NOT TRUE) OVER (ORDER BY start_ns, end_ns) AS island
    FROM _work)
  GROUP BY island
), _before AS (
  SELECT *, SUM(end_ns - start_ns) OVER (ORDER BY start_ns) - (end_ns - start_ns) AS before_ns
  FROM _busy
), _wait AS (
  SELECT operation_id, start_ns, end_ns FROM _event AS call
  WHERE kind = 'cuda_call' AND (name LIKE '%Synchronize%' OR name LIKE '%Memcpy%' AND EXISTS (
    FROM _work WHERE _work.correlation_id = call.correlation_id AND _work.end_ns <= call.end_ns))
), _next AS (
  SELECT *, GREATEST(end_ns,
    COALESCE(LEAD(start_ns) OVER (ORDER BY start_ns, end_ns), last_ns)) AS next_ns
  FROM _wait, _span
), _moment AS (
  SELECT DISTINCT UNNEST([start_ns, end_ns, next_ns]) AS moment_ns FROM _next
), _sum AS (
  SELECT moment_ns,
    COALESCE(before_ns + LEAST(moment_ns, end_ns) - start_ns, 0) AS busy_ns
  FROM _moment ASOF LEFT JOIN _before ON moment_ns >= start_ns
)
SELECT _iteration.iteration, COALESCE(path, '(none)') AS operation,
  CAST(ended.busy_ns - began.busy_ns AS BIGINT) AS waited_ns,
  CAST(next_ns - _next.end_ns - (next.busy_ns - ended.busy_ns) AS BIGINT) AS idle_ns
FROM _next
  JOIN _iteration ON _next.start_ns >= _iteration.start_ns AND _next.start_ns < _iteration.end_ns
  JOIN _sum AS began ON began.moment_ns = _next.start_ns
  JOIN _sum AS ended ON ended.moment_ns = _next.end_ns
  JOIN _sum AS next ON next.moment_ns = next_ns
  LEFT JOIN operation USING (operation_id)
ORDER BY _next.start_ns, _next.end_ns

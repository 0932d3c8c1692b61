-- Calls of a process ($process_id) that wait for its GPU, in order, in $iterations complete iterations: those in
-- the middle of its loop. Where GPU work was recorded in windows, some of each of $windows windows, without its
-- first iteration, in which CUPTI is attached. The first window is the beginning: it is left out if there are
-- three others.
--   stretch    iterations that follow each other: one, or as many as there are windows
--   waited_ns  the part of the call in which GPU work of the process ran
--   idle_ns    time after it, until the next such call, in which none ran
-- uses: own_iteration
WITH _own AS (
  SELECT iteration, start_ns, start_ns + duration_ns AS end_ns, gpu_recorded IS NOT FALSE AS is_seen
  FROM own_iteration WHERE process_id = $process_id
), _known AS (
  SELECT *, COUNT(*) FILTER (NOT is_seen) OVER () > 0 AS has_windows FROM _own
), _seen AS (
  SELECT *, iteration - ROW_NUMBER() OVER (ORDER BY iteration) AS stretch FROM _known WHERE is_seen
), _placed AS (
  SELECT *, DENSE_RANK() OVER (ORDER BY stretch) - 1 AS number,
    ROW_NUMBER() OVER (PARTITION BY stretch ORDER BY iteration) AS place,
    COUNT(*) OVER (PARTITION BY stretch) AS length,
    ROW_NUMBER() OVER (ORDER BY start_ns) - COUNT(*) OVER () / 2 AS from_middle
  FROM _seen
), _iteration AS (
  SELECT iteration, start_ns, end_ns, IF(has_windows, stretch, 0) AS stretch FROM _placed
  QUALIFY IF(has_windows,
    number % CEIL((MAX(number) OVER () + 1) / $windows) = 0
      AND (number > 0 OR MAX(number) OVER () < 3) AND place BETWEEN IF(number > 0 AND length > 1, 2, 1) AND 1 + CEIL($iterations / $windows),
    ABS(from_middle) <= $iterations / 2)
), _stretch AS (
  SELECT stretch, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns FROM _iteration GROUP BY stretch
), _event AS (
  SELECT event.*, start_ns + event.duration_ns AS end_ns, stretch, last_ns FROM event JOIN _stretch
    ON start_ns < last_ns AND start_ns + event.duration_ns > first_ns
  WHERE process_id = $process_id
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
  SELECT operation_id, start_ns, end_ns, stretch, last_ns FROM _event AS call
  WHERE kind = 'cuda_call' AND (name LIKE '%Synchronize%' OR name LIKE '%Memcpy%' AND EXISTS (
    FROM _work WHERE _work.correlation_id = call.correlation_id AND _work.end_ns <= call.end_ns))
), _next AS (
  SELECT *, GREATEST(end_ns,
    COALESCE(LEAD(start_ns) OVER (PARTITION BY stretch ORDER BY start_ns, end_ns), last_ns)) AS next_ns
  FROM _wait
), _moment AS (
  SELECT DISTINCT UNNEST([start_ns, end_ns, next_ns]) AS moment_ns FROM _next
), _place AS (
  SELECT moment_ns, NULL AS began FROM _moment
  UNION ALL
  SELECT start_ns, _before FROM _before
), _latest AS (  -- not by an ASOF JOIN, as in parts/worker_part.sql
  SELECT moment_ns, LAST_VALUE(began IGNORE NULLS) OVER (
    ORDER BY moment_ns, began IS NULL ROWS UNBOUNDED PRECEDING) AS latest
  FROM _place QUALIFY began IS NULL
), _sum AS (
  SELECT moment_ns,
    COALESCE(latest.before_ns + LEAST(moment_ns, latest.end_ns) - latest.start_ns, 0) AS busy_ns
  FROM _latest
)
SELECT _iteration.iteration, _iteration.stretch, COALESCE(path, '(none)') AS operation,
  CAST(ended.busy_ns - began.busy_ns AS BIGINT) AS waited_ns,
  CAST(next_ns - _next.end_ns - (next.busy_ns - ended.busy_ns) AS BIGINT) AS idle_ns
FROM _next
  JOIN _iteration ON _next.start_ns >= _iteration.start_ns AND _next.start_ns < _iteration.end_ns
  JOIN _sum AS began ON began.moment_ns = _next.start_ns
  JOIN _sum AS ended ON ended.moment_ns = _next.end_ns
  JOIN _sum AS next ON next.moment_ns = next_ns
  LEFT JOIN operation USING (operation_id)
ORDER BY _next.start_ns, _next.end_ns

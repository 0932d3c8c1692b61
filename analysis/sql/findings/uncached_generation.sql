-- How the second half of each generation ($operations) of a process ($process_id) compares with its first,
-- by the native function that takes most of their time: in halves of its calls, each token has as many.
--   generations   with enough calls ($calls); calls: in all of them
--   half_ns       the first half, on average
--   mean_ns       by how much the second half takes longer, on average; deviation_ns: standard deviation
WITH _function AS (
  SELECT ARG_MAX(function, ns) AS name FROM (
    SELECT function, SUM(duration_ns) AS ns FROM native_call
    WHERE process_id = $process_id AND operation IN (SELECT UNNEST($operations)) GROUP BY function
  )
), _instance AS (
  SELECT ROW_NUMBER() OVER (ORDER BY start_ns) AS generation, start_ns,
    start_ns + duration_ns AS end_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND path IN (SELECT UNNEST($operations))
), _call AS (
  SELECT generation, _instance.start_ns AS begin_ns, end_ns, event.start_ns,
    ROW_NUMBER() OVER (PARTITION BY generation ORDER BY event.start_ns) AS place,
    COUNT(*) OVER (PARTITION BY generation) AS calls
  FROM event, _function, _instance
  WHERE process_id = $process_id AND kind = 'call' AND event.name = _function.name
    AND event.start_ns >= _instance.start_ns AND event.start_ns < end_ns
), _half AS (
  SELECT generation, calls, start_ns - begin_ns AS half_ns, end_ns + begin_ns - 2 * start_ns AS longer_ns
  FROM _call WHERE place = 1 + calls // 2 AND calls >= $calls
)
SELECT COUNT(*) AS generations, CAST(SUM(calls) AS BIGINT) AS calls,
  CAST(AVG(half_ns) AS DOUBLE) AS half_ns, CAST(AVG(longer_ns) AS DOUBLE) AS mean_ns,
  CAST(COALESCE(STDDEV_SAMP(longer_ns), 0) AS DOUBLE) AS deviation_ns
FROM _half HAVING COUNT(*) > 0

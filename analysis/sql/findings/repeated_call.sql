-- Native calls of frameworks in operations ($operations) of a process ($process_id), the longest first.
--   calls, entries   of the function, and of the operation. What takes less than a quarter of one of the
--                    next eight in a row made ready for it, as conversions of an observation do: one entry.
--                    One that takes longer than three quarters of all do is as long as those
--   duration_ns      of the calls
--   operation_ns     of the operation in the training loop
--   passes           how often the operation calls networks: as the function's part of its calls in all
--                    operations but some ($apart), of all outermost forwards; NULL: not known
WITH _change AS (
  SELECT thread_id, start_ns, path AS operation, self_ns,
    path IS DISTINCT FROM LAG(path) OVER (PARTITION BY thread_id ORDER BY start_ns) AS is_first
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id
), _usual AS (
  SELECT operation, QUANTILE_CONT(self_ns, 0.75) AS usual_ns FROM _change GROUP BY operation
), _row AS (
  SELECT _change.*, usual_ns, COUNT_IF(is_first) OVER (PARTITION BY thread_id ORDER BY start_ns) AS run
  FROM _change JOIN _usual USING (operation)
), _instance AS (
  SELECT operation, COALESCE(4 * self_ns < MAX(LEAST(self_ns, usual_ns)) OVER (
    PARTITION BY thread_id, run ORDER BY start_ns ROWS BETWEEN 1 FOLLOWING AND 8 FOLLOWING
  ), FALSE) AS makes_ready
  FROM _row
), _entry AS (
  SELECT operation, COUNT(*) FILTER (NOT makes_ready) AS entries FROM _instance GROUP BY operation
), _all AS (
  SELECT function, SUM(calls) AS all_calls FROM native_call
  WHERE process_id = $process_id AND layer = 'framework' AND operation NOT IN (SELECT UNNEST($apart))
  GROUP BY function
), _forward AS (
  SELECT ANY_VALUE(TRY_CAST(value AS BIGINT)) AS forwards FROM metadata
  WHERE process_id = $process_id AND key = 'rlscope.forwards'
), _state AS (
  SELECT operation, SUM(duration_ns) AS operation_ns FROM breakdown
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') GROUP BY operation
)
SELECT operation, function, CAST(SUM(calls) AS BIGINT) AS calls, entries,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns, CAST(operation_ns AS BIGINT) AS operation_ns,
  SUM(calls) * forwards / all_calls AS passes
FROM native_call JOIN _entry USING (operation) JOIN _state USING (operation)
  JOIN _all USING (function) CROSS JOIN _forward
WHERE process_id = $process_id AND layer = 'framework'
  AND operation IN (SELECT UNNEST($operations))
GROUP BY operation, function, entries, operation_ns, forwards, all_calls
ORDER BY SUM(duration_ns) DESC, function, operation

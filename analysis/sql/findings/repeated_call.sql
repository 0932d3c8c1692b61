-- Native calls of frameworks in operations ($operations) of a process ($process_id), the longest first.
--   calls, entries   of the function, and of the operation. What takes less than a quarter of the next
--                    instance made ready for it, as the conversion of an observation does: one entry
--   duration_ns      of the calls
--   operation_ns     of the operation in the training loop
--   passes           how often the operation calls networks: as the function's part of its calls in all
--                    operations but some ($apart), of all outermost forwards; NULL: not known
WITH _instance AS (
  SELECT path AS operation, COALESCE(
    path = LEAD(path) OVER _thread AND 4 * self_ns < LEAD(self_ns) OVER _thread, FALSE) AS makes_ready
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id
  WINDOW _thread AS (PARTITION BY thread_id ORDER BY start_ns)
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

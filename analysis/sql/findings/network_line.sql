-- Lines of the program's own that call some functions themselves in operations ($operations) of the training
-- loop of a process ($process_id), also from inside of such a function: those that take longest first.
--   total_ns     with below_ns2 and above_ns2, the squared distances to the ends of its interval
--   distance     1: frames from the line to the call
--   $functions   of part called_stack
WITH RECURSIVE _function AS (
  SELECT UNNEST($functions) AS pattern
), _stack AS (
  SELECT stack_id, parent_id, file, function, line, is_own FROM stack WHERE process_id = $process_id
), _known AS (
  SELECT DISTINCT file, function FROM (SELECT DISTINCT file, function FROM _stack) JOIN _function
    ON regexp_full_match(file || ':' || function, pattern)
), _call AS (
  SELECT stack_id, parent_id FROM _stack SEMI JOIN _known USING (file, function)
), _called AS (
  SELECT _call.stack_id, file, line FROM _call JOIN _stack ON _stack.stack_id = _call.parent_id
  WHERE is_own AND line IS NOT NULL
), _below AS (
  SELECT stack_id, file, line FROM _called
  UNION
  SELECT _stack.stack_id, _below.file, _below.line FROM _below JOIN _stack
    ON parent_id = _below.stack_id
  WHERE parent_id < _stack.stack_id
), _time AS (
  SELECT stack_id, operation, SUM(self_ns) AS self_ns,
    SUM(POW(self_ns - self_low_ns, 2)) AS below_ns2,
    SUM(POW(self_high_ns - self_ns, 2)) AS above_ns2
  FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND operation IN (SELECT UNNEST($operations)) GROUP BY stack_id, operation
)
SELECT file, line, operation, 1 AS distance, CAST(SUM(self_ns) AS DOUBLE) AS total_ns,
  CAST(SUM(below_ns2) AS DOUBLE) AS below_ns2, CAST(SUM(above_ns2) AS DOUBLE) AS above_ns2
FROM _time JOIN _below USING (stack_id)
GROUP BY file, line, operation ORDER BY total_ns DESC, file, line, operation

-- Time in the training loop of a process ($process_id) during calls of some functions, by the program's
-- own line that led to the call.
--   $functions   regular expressions, each of a file and a function: '.*/json/encoder\.py:JSONEncoder\..*'
--   $operations  paths; none: of all operations
--   own_ns, and below_ns2 and above_ns2, the squared distances to the ends of its interval
--   readings     of the stacks that the time is estimated from
WITH RECURSIVE _function AS (
  SELECT UNNEST($functions) AS pattern
), _stack AS (
  SELECT stack_id, parent_id, file, function, line, is_own FROM stack
  WHERE process_id = $process_id
), _known AS (
  SELECT DISTINCT file, function FROM (SELECT DISTINCT file, function FROM _stack) JOIN _function
    ON regexp_full_match(file || ':' || function, pattern)
), _called AS (
  SELECT stack_id FROM _stack SEMI JOIN _known USING (file, function)
), _below AS (
  SELECT stack_id, stack_id AS call_id FROM _called
  UNION ALL
  SELECT _stack.stack_id, call_id FROM _below JOIN _stack ON parent_id = _below.stack_id
  WHERE parent_id < _stack.stack_id
), _outermost AS (
  SELECT stack_id, MIN(call_id) AS call_id FROM _below GROUP BY stack_id
), _caller AS (
  SELECT DISTINCT call_id, call_id AS caller_id FROM _outermost
  UNION ALL
  SELECT call_id, parent_id FROM _caller JOIN _stack ON stack_id = caller_id
  WHERE parent_id < caller_id
), _line AS (
  SELECT call_id, MAX(caller_id) AS line_id
  FROM _caller JOIN _stack ON stack_id = caller_id
  WHERE caller_id < call_id AND is_own AND line IS NOT NULL
  GROUP BY call_id
), _time AS (
  SELECT * FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND stack_id IN (SELECT stack_id FROM _outermost)
    AND (operation IN (SELECT UNNEST($operations)) OR LEN($operations) = 0)
)
SELECT file, line, operation, CAST(SUM(self_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(self_ns - self_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(self_high_ns - self_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(SUM(readings) AS BIGINT) AS readings
FROM _time JOIN _outermost USING (stack_id) JOIN _line USING (call_id) JOIN _stack
  ON _stack.stack_id = line_id
GROUP BY file, line, operation
ORDER BY own_ns DESC, file, line, operation

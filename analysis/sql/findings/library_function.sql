-- Time in the training loop of a process ($process_id) during calls of some functions, by the program's
-- own line that led to the call.
--   $functions   regular expressions, each of a file and a function: '.*/json/encoder\.py:JSONEncoder\..*'
--   $operations  paths; none: of all operations
--   own_ns, and below_ns2 and above_ns2, the squared distances to the ends of its interval
--   readings     of the stacks that the time is estimated from
WITH RECURSIVE _function AS (
  SELECT UNNEST($functions) AS pattern
), _called AS (
  SELECT DISTINCT stack_id FROM stack JOIN _function
    ON regexp_full_match(file || ':' || function, pattern)
  WHERE process_id = $process_id
), _time AS (
  SELECT * FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND stack_id IS NOT NULL
    AND (operation IN (SELECT UNNEST($operations)) OR LEN($operations) = 0)
), _caller AS (
  SELECT DISTINCT stack_id, stack_id AS caller_id FROM _time
  UNION ALL
  SELECT _caller.stack_id, parent_id FROM _caller JOIN stack
    ON process_id = $process_id AND stack.stack_id = caller_id
  WHERE parent_id < caller_id
), _outermost AS (
  SELECT stack_id, MIN(caller_id) AS call_id FROM _caller
  WHERE caller_id IN (FROM _called) GROUP BY stack_id
), _line AS (
  SELECT _outermost.stack_id, MAX(caller_id) AS line_id
  FROM _outermost JOIN _caller USING (stack_id) JOIN stack
    ON process_id = $process_id AND stack.stack_id = caller_id
  WHERE caller_id < call_id AND is_own AND line IS NOT NULL
  GROUP BY ALL
)
SELECT file, line, operation, CAST(SUM(self_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(self_ns - self_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(self_high_ns - self_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(SUM(readings) AS BIGINT) AS readings
FROM _line JOIN _time USING (stack_id) JOIN stack
  ON stack.process_id = $process_id AND stack.stack_id = line_id
GROUP BY file, line, operation
ORDER BY own_ns DESC, file, line, operation

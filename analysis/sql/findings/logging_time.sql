-- Time of the training loop of a process ($process_id) in calls of some functions, and in some lines of the
-- program's own, with all that they call. Each time counts once.
--   $functions        of part called_stack
--   $files, $lines    the lines, side by side
--   $operations, $waits  of part mended_stack
--   own_ns            with below_ns2 and above_ns2, the squared distances to the ends of its interval
--   readings          of the stacks that the time is estimated from
-- uses: called_stack, mended_stack
WITH RECURSIVE _place AS (
  SELECT DISTINCT UNNEST($files) AS file, UNNEST($lines) AS line
), _stack AS (
  SELECT stack_id, parent_id, file, line FROM stack WHERE process_id = $process_id
), _led AS (
  SELECT stack_id FROM _stack SEMI JOIN _place USING (file, line)
  UNION
  SELECT _stack.stack_id FROM _led JOIN _stack ON parent_id = _led.stack_id
  WHERE parent_id < _stack.stack_id
), _counted AS (
  SELECT stack_id FROM _led UNION SELECT stack_id FROM called_stack
)
SELECT operation, CAST(SUM(self_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(self_ns - self_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(self_high_ns - self_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(SUM(readings) AS BIGINT) AS readings
FROM mended_stack SEMI JOIN _counted USING (stack_id)
GROUP BY operation ORDER BY own_ns DESC, operation

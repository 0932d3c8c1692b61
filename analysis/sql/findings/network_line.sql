-- Lines of the program's own that call some functions themselves in the training loop of a process
-- ($process_id), also from inside of such a function: those that take longest first.
--   $functions           regular expressions, as part called_stack takes them
--   $operations, $waits  of part mended_stack
--   total_ns             with below_ns2 and above_ns2, the squared distances to the ends of its interval
-- uses: mended_stack
WITH RECURSIVE _function AS (
  SELECT UNNEST($functions) AS pattern
), _stack AS (
  SELECT stack_id, parent_id, file, function, line, is_own FROM stack WHERE process_id = $process_id
), _call AS (
  SELECT stack_id, parent_id FROM _stack SEMI JOIN _function
    ON regexp_full_match(file || ':' || function, pattern)
), _below AS (
  SELECT _call.stack_id, file, line FROM _call JOIN _stack ON _stack.stack_id = _call.parent_id
  WHERE is_own AND line IS NOT NULL
  UNION
  SELECT _stack.stack_id, _below.file, _below.line FROM _below JOIN _stack
    ON parent_id = _below.stack_id
  WHERE parent_id < _stack.stack_id
)
SELECT file, line, operation, CAST(SUM(self_ns) AS DOUBLE) AS total_ns,
  CAST(SUM(POW(self_ns - self_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(self_high_ns - self_ns, 2)) AS DOUBLE) AS above_ns2
FROM mended_stack JOIN _below USING (stack_id)
GROUP BY file, line, operation ORDER BY total_ns DESC, file, line, operation

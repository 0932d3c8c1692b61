-- Stacks of a process ($process_id) below calls of some functions, with the outermost of these calls:
-- stack_id, call_id.
--   $functions   regular expressions, each of a file and a function: '.*/json/encoder\.py:JSONEncoder\..*'
WITH RECURSIVE _function AS (
  SELECT UNNEST($functions) AS pattern
), _stack AS (
  SELECT stack_id, parent_id, file, function FROM stack WHERE process_id = $process_id
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
)
SELECT stack_id, MIN(call_id) AS call_id FROM _below GROUP BY stack_id

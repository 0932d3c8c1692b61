-- Lines of the program's own that lead to its innermost ones, in an operation ($operation) of the training
-- loop of a process ($process_id).
--   inner_file, inner_line   the innermost line
--   depth      1: the line that called the function of that line; 2: the one that called its function
--   total_ns   in which it leads there; of a depth, the longest first
WITH RECURSIVE _stack AS (
  SELECT stack_id, parent_id, file, line, is_own AND line IS NOT NULL AS is_own
  FROM stack WHERE process_id = $process_id
), _time AS (
  SELECT stack_id AS top_id, SUM(self_ns) AS self_ns FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND operation = $operation GROUP BY stack_id
), _climb AS (
  SELECT top_id, top_id AS stack_id, 0 AS depth FROM _time
  UNION ALL
  SELECT top_id, parent_id, depth + CAST(is_own AS INTEGER) FROM _climb JOIN _stack USING (stack_id)
  WHERE parent_id < stack_id
), _frame AS (
  SELECT top_id, depth, file, line FROM _climb JOIN _stack USING (stack_id) WHERE is_own
), _inner AS (
  SELECT top_id, file AS inner_file, line AS inner_line FROM _frame WHERE depth = 0
)
SELECT inner_file, inner_line, depth, file, line, CAST(SUM(self_ns) AS DOUBLE) AS total_ns
FROM _frame JOIN _inner USING (top_id) JOIN _time USING (top_id)
WHERE depth > 0 GROUP BY inner_file, inner_line, depth, file, line
ORDER BY inner_file, inner_line, depth, total_ns DESC, file, line

-- Time of calls of some functions ($functions) in operations ($operations) of the training loop of a
-- process ($process_id) to which lines of a file ($file, $lines) led, by the first line of the program's
-- own below them: line, below_file and below_line (NULL: there is none), total_ns.
--   $functions   of part called_stack
-- uses: called_stack
WITH RECURSIVE _stack AS (
  SELECT stack_id, parent_id, file, line, is_own FROM stack WHERE process_id = $process_id
), _time AS (
  SELECT stack_id, SUM(self_ns) AS self_ns FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND operation IN (SELECT UNNEST($operations)) GROUP BY stack_id
), _above AS (
  SELECT stack_id AS leaf_id, stack_id AS at_id, NULL::VARCHAR AS below_file, NULL::BIGINT AS below_line
  FROM called_stack SEMI JOIN _time USING (stack_id)
  UNION ALL
  SELECT leaf_id, parent_id, IF(is_own, file, below_file), IF(is_own, line, below_line)
  FROM _above JOIN _stack ON stack_id = at_id
  WHERE parent_id < at_id
)
SELECT _stack.line, below_file, below_line, CAST(SUM(self_ns) AS DOUBLE) AS total_ns
FROM _above JOIN _stack ON _stack.stack_id = at_id JOIN _time ON _time.stack_id = leaf_id
WHERE is_own AND file = $file AND _stack.line IN (SELECT UNNEST($lines))
GROUP BY ALL ORDER BY _stack.line, total_ns DESC, below_file, below_line

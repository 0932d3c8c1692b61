-- Lines of the program's own that led to calls of some functions in an operation ($operation) of the
-- training loop of a process ($process_id), those that are on the stack for longest first; of equals,
-- the one nearest to the call.
--   $functions   of part called_stack
-- uses: called_stack, call_caller
WITH _time AS (
  SELECT stack_id, SUM(self_ns) AS self_ns FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND operation = $operation GROUP BY stack_id
), _line AS (
  SELECT call_id, file, line, MAX(line_id) AS line_id FROM call_caller GROUP BY ALL
)
SELECT file, line, CAST(SUM(self_ns) AS DOUBLE) AS total_ns
FROM _time JOIN called_stack USING (stack_id) JOIN _line USING (call_id)
GROUP BY file, line ORDER BY total_ns DESC, MAX(line_id) DESC, file, line

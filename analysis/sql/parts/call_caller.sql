-- Lines of the program's own on the stacks of the calls of part called_stack, in a process
-- ($process_id): call_id, line_id (a stack of the line), file, line, distance (frames up to the call).
-- Of one call, the line that led there last has the greatest line_id.
-- uses: called_stack
WITH RECURSIVE _stack AS (
  SELECT stack_id, parent_id, file, line, is_own FROM stack WHERE process_id = $process_id
), _caller AS (
  SELECT DISTINCT call_id, call_id AS caller_id, 0 AS distance FROM called_stack
  UNION ALL
  SELECT call_id, parent_id, distance + 1 FROM _caller JOIN _stack ON stack_id = caller_id
  WHERE parent_id < caller_id
)
SELECT call_id, stack_id AS line_id, file, line, distance FROM _caller JOIN _stack ON stack_id = caller_id
WHERE caller_id < call_id AND is_own AND line IS NOT NULL

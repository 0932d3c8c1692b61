-- Each stack of loop_stack and of its callers by the frame of a flame graph that it is: stacks of
-- several processes with the same lines are one frame.
-- uses: counted_process
WITH RECURSIVE _stack AS MATERIALIZED ( -- or each step reads the file, and its texts
  SELECT process_id, stack_id, parent_id, HASH(function, file, line) AS place
  FROM stack WHERE process_id IN (FROM counted_process)
), _path AS (
  SELECT process_id, stack_id, place AS path, CAST(NULL AS UBIGINT) AS caller, 1 AS depth
  FROM _stack WHERE parent_id IS NULL
  UNION ALL
  SELECT _stack.process_id, _stack.stack_id, HASH(path, place), path, depth + 1
  FROM _path JOIN _stack
    ON _stack.process_id = _path.process_id AND _stack.parent_id = _path.stack_id
)
SELECT _path.*, function, file, line, is_own FROM _path JOIN stack USING (process_id, stack_id)

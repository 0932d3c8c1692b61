-- Each stack of loop_stack and of its callers by the frame of a flame graph that it is: stacks of
-- several processes with the same lines are one frame.
-- uses: counted_process
WITH RECURSIVE _path AS (
  SELECT process_id, stack_id, HASH(function, file, line) AS path, CAST(NULL AS UBIGINT) AS caller,
    1 AS depth, function, file, line, is_own
  FROM stack WHERE parent_id IS NULL AND process_id IN (FROM counted_process)
  UNION ALL
  SELECT stack.process_id, stack.stack_id, HASH(path, stack.function, stack.file, stack.line), path,
    depth + 1, stack.function, stack.file, stack.line, stack.is_own
  FROM _path JOIN stack
    ON stack.process_id = _path.process_id AND stack.parent_id = _path.stack_id
)
SELECT * FROM _path

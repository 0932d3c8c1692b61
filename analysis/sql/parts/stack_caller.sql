-- Each stack of loop_stack with itself and every stack that it was called from, as caller_id.
-- uses: loop_stack
WITH RECURSIVE _caller AS (
  SELECT DISTINCT process_id, stack_id, stack_id AS caller_id FROM loop_stack
  WHERE stack_id IS NOT NULL
  UNION ALL
  SELECT _caller.process_id, _caller.stack_id, stack.parent_id
  FROM _caller JOIN stack
    ON stack.process_id = _caller.process_id AND stack.stack_id = _caller.caller_id
  WHERE parent_id < caller_id
)
SELECT * FROM _caller

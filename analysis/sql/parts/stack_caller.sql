-- Each stack of loop_stack with itself and every stack that it was called from, as caller_id.
-- uses: loop_stack
WITH RECURSIVE _stack AS MATERIALIZED (
  SELECT process_id, stack_id, parent_id FROM stack
), _caller AS (
  SELECT DISTINCT process_id, stack_id, stack_id AS caller_id FROM loop_stack
  WHERE stack_id IS NOT NULL
  UNION ALL
  SELECT _caller.process_id, _caller.stack_id, _stack.parent_id
  FROM _caller JOIN _stack
    ON _stack.process_id = _caller.process_id AND _stack.stack_id = _caller.caller_id
  WHERE parent_id < caller_id
)
SELECT * FROM _caller

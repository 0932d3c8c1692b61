-- How long a process ($process_id) imports libraries that its loop does not use, and the one that takes longest
-- with all that it imports, with the line of the program that asks for it. A library is used if the process calls
-- its native functions, its code was on a stack of the loop, or the program's own code called it before or
-- after the loop, as for a plot; NumPy always is. What a used library imports is its
-- own need. One row, or none; none where no stack of the loop is known.
-- uses: stack_caller
WITH RECURSIVE _native AS (
  SELECT DISTINCT REGEXP_EXTRACT(function, '^[^.:]+') AS library FROM native_call
  WHERE process_id = $process_id
), _frame AS (
  SELECT DISTINCT REGEXP_EXTRACT(file, '/(?:site|dist)-packages/([^/.]+)', 1) AS library
  FROM stack_caller JOIN stack
    ON stack.process_id = stack_caller.process_id AND stack.stack_id = stack_caller.caller_id
  WHERE stack.process_id = $process_id
), _around AS (
  SELECT stack_id FROM stack_time WHERE process_id = $process_id AND stack_id IS NOT NULL
    AND NOT REGEXP_FULL_MATCH(operation, '(.*/)?import')
  UNION
  SELECT parent_id FROM _around JOIN stack USING (stack_id)
  WHERE process_id = $process_id AND parent_id IS NOT NULL
), _called AS (
  SELECT DISTINCT REGEXP_EXTRACT(called.file, '/(?:site|dist)-packages/([^/.]+)', 1) AS library
  FROM stack AS called JOIN stack AS caller
    ON caller.process_id = called.process_id AND caller.stack_id = called.parent_id
  WHERE called.process_id = $process_id AND called.stack_id IN (FROM _around) AND caller.is_own
), _used AS (  -- the native code of JAX is a library of its own
  SELECT library FROM _native UNION SELECT library FROM _frame UNION SELECT library FROM _called UNION SELECT 'numpy'
  UNION SELECT 'jax' FROM _native WHERE library = 'jaxlib'
), _import AS (
  SELECT SPLIT_PART(module, '.', 1) AS library, start_ns, start_ns + total_ns AS end_ns, self_ns, asked_by, is_own
  FROM import WHERE process_id = $process_id AND module IS NOT NULL
), _asked AS (  -- by the program, and no module of its own: those import something themselves
  SELECT * FROM _import AS one WHERE is_own AND NOT EXISTS (
    FROM _import AS other WHERE other.is_own
      AND REGEXP_EXTRACT(other.asked_by, '([^/]+?)(/__init__)?\.py:[0-9]+$', 1) = one.library)
), _part AS (  -- the nearest one around each
  SELECT inner_.library AS imported, inner_.self_ns, ARG_MAX(outer_.library, outer_.start_ns) AS library
  FROM _import AS inner_ JOIN _asked AS outer_
    ON outer_.start_ns <= inner_.start_ns AND inner_.end_ns <= outer_.end_ns
  GROUP BY inner_.library, inner_.start_ns, inner_.end_ns, inner_.self_ns
), _library AS (
  SELECT library, SUM(self_ns) AS whole_ns,
    (SELECT ARG_MIN(asked_by, start_ns) FROM _asked WHERE _asked.library = _part.library) AS asked_by
  FROM _part
  WHERE library NOT IN (FROM _used) AND imported NOT IN (FROM _used) GROUP BY library
)
SELECT CAST(SUM(whole_ns) OVER () AS BIGINT) AS all_ns, library, CAST(whole_ns AS BIGINT) AS whole_ns, asked_by
FROM _library WHERE EXISTS (FROM _frame) ORDER BY whole_ns DESC, library LIMIT 1

-- The library that the hottest line of the program's own code calls, by the time inside of it: one row or none.
--   library     folder of the package below site-packages or dist-packages
--   library_ns  time of the stacks in which the line calls it
--   own_ns, loop_ns  as in hot_line
--   $lines           1
-- uses: listed_line, loop_stack, stack_caller
WITH _call AS (
  SELECT called.process_id, called.stack_id, _hot.file, _hot.line, own_ns, loop_ns,
    REGEXP_EXTRACT(called.file, '.*/(?:site|dist)-packages/([^/]+)/', 1) AS library
  FROM stack AS called JOIN stack AS caller
    ON caller.process_id = called.process_id AND caller.stack_id = called.parent_id
  JOIN listed_line AS _hot ON _hot.file = caller.file AND _hot.line = caller.line
  WHERE NOT called.is_own
)
SELECT _call.file, _call.line, library, CAST(SUM(self_ns) AS BIGINT) AS library_ns,
  CAST(ANY_VALUE(own_ns) AS BIGINT) AS own_ns, CAST(ANY_VALUE(loop_ns) AS BIGINT) AS loop_ns
FROM _call
  JOIN stack_caller ON stack_caller.process_id = _call.process_id AND caller_id = _call.stack_id
  JOIN loop_stack ON loop_stack.process_id = _call.process_id
    AND loop_stack.stack_id = stack_caller.stack_id
WHERE library <> '' AND layer <> 'gpu'
GROUP BY _call.file, _call.line, library
ORDER BY library_ns DESC, library
LIMIT 1

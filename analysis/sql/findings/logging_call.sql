-- Calls of some functions in the training loop of a process ($process_id), by the line of the program's own
-- that led there last: file, line, function.
--   $functions   of part called_stack
-- uses: call_caller
WITH _line AS (
  SELECT call_id, ARG_MAX(file, line_id) AS file, ARG_MAX(line, line_id) AS line FROM call_caller
  GROUP BY call_id
), _call AS (
  SELECT stack_id AS call_id, function FROM stack WHERE process_id = $process_id
)
SELECT DISTINCT file, line, function FROM _line JOIN _call USING (call_id) ORDER BY ALL

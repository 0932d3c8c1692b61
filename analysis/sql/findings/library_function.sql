-- Time in the training loop of a process ($process_id) during calls of some functions, by the program's
-- own line that led to the call.
--   $functions   of part called_stack
--   $operations, $waits  of part mended_stack
--   own_ns, and below_ns2 and above_ns2, the squared distances to the ends of its interval
--   readings     of the stacks that the time is estimated from
-- uses: called_stack, call_caller, mended_stack
WITH _line AS (
  SELECT call_id, ARG_MAX(file, line_id) AS file, ARG_MAX(line, line_id) AS line FROM call_caller
  GROUP BY call_id
)
SELECT file, line, operation, CAST(SUM(self_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(self_ns - self_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(self_high_ns - self_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(SUM(readings) AS BIGINT) AS readings
FROM mended_stack JOIN called_stack USING (stack_id) JOIN _line USING (call_id)
GROUP BY file, line, operation
ORDER BY own_ns DESC, file, line, operation

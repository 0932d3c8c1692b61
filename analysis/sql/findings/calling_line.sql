-- Lines of the program's own that led to calls of some functions in operations ($operations) of the
-- training loop of a process ($process_id), those that are on the stack for longest first; of equals,
-- the one nearest to the call.
--   distance     frames from the line to the call, in the mean over this time
--   total_ns     with below_ns2 and above_ns2, the squared distances to the ends of its interval
--   $functions   of part called_stack
-- uses: called_stack, call_caller
WITH _time AS (
  SELECT stack_id, operation, SUM(self_ns) AS self_ns,
    SUM(POW(self_ns - self_low_ns, 2)) AS below_ns2,
    SUM(POW(self_high_ns - self_ns, 2)) AS above_ns2
  FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer NOT IN ('gpu', 'wait')
    AND operation IN (SELECT UNNEST($operations)) GROUP BY stack_id, operation
), _line AS (
  SELECT call_id, file, line, MAX(line_id) AS line_id, MIN(distance) AS distance
  FROM call_caller GROUP BY ALL
)
SELECT file, line, operation, SUM(distance * self_ns) / SUM(self_ns) AS distance,
  CAST(SUM(self_ns) AS DOUBLE) AS total_ns,
  CAST(SUM(below_ns2) AS DOUBLE) AS below_ns2, CAST(SUM(above_ns2) AS DOUBLE) AS above_ns2
FROM _time JOIN called_stack USING (stack_id) JOIN _line USING (call_id)
GROUP BY file, line, operation ORDER BY total_ns DESC, MAX(line_id) DESC, file, line, operation

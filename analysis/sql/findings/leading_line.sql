-- Lines of the program's own that are on the stack in operations ($operations) of the training loop of a
-- process ($process_id), those that are there for longest first.
--   distance  frames from the line to the innermost one, in the mean over this time
WITH RECURSIVE _stack AS (
  SELECT stack_id, parent_id, file, line, is_own FROM stack WHERE process_id = $process_id
), _time AS (
  SELECT stack_id, SUM(self_ns) AS self_ns FROM stack_time
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer <> 'gpu'
    AND operation IN (SELECT UNNEST($operations))
  GROUP BY stack_id HAVING SUM(self_ns) > 0
), _above AS (
  SELECT stack_id, stack_id AS at_id, 0 AS distance FROM _time WHERE stack_id IS NOT NULL
  UNION ALL
  SELECT _above.stack_id, parent_id, distance + 1 FROM _above JOIN _stack ON _stack.stack_id = at_id
  WHERE parent_id < at_id
), _line AS (
  SELECT _above.stack_id, file, line, MIN(distance) AS distance
  FROM _above JOIN _stack ON _stack.stack_id = at_id WHERE is_own AND line IS NOT NULL
  GROUP BY _above.stack_id, file, line
)
SELECT file, line, CAST(SUM(self_ns) AS DOUBLE) AS total_ns,
  SUM(distance * self_ns) / SUM(self_ns) AS distance
FROM _time JOIN _line USING (stack_id)
GROUP BY file, line ORDER BY total_ns DESC, distance, file, line

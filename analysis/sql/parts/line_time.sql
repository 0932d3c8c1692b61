-- Time in the training loops of each line of the program's own code, by operation and layer.
--   own_ns, and below_ns2 and above_ns2  the squared distances to the ends of its interval
--   own_corrected_ns  own_ns without what recording cost; NULL where no cost is known
--   total_ns  the time of the stacks in which the line occurs, however often
-- uses: counted_process, loop_stack, stack_caller
WITH _occurrence AS (
  SELECT DISTINCT stack_caller.process_id, stack_caller.stack_id, file, line
  FROM stack_caller JOIN stack
    ON stack.process_id = stack_caller.process_id AND stack.stack_id = caller_id
  WHERE is_own AND line IS NOT NULL
), _total AS (
  SELECT file, line, operation, layer, SUM(self_ns) AS total_ns
  FROM _occurrence JOIN loop_stack USING (process_id, stack_id)
  WHERE layer <> 'gpu'
  GROUP BY ALL
), _own AS (
  SELECT file, line, operation, layer, SUM(own_ns) AS own_ns,
    SUM(own_corrected_ns) AS own_corrected_ns,
    SUM(POW(own_ns - own_low_ns, 2)) AS below_ns2, SUM(POW(own_high_ns - own_ns, 2)) AS above_ns2
  FROM source_line
  WHERE process_id IN (FROM counted_process) AND stage IN ('loop', 'whole')
    AND operation <> '(not recorded)' AND is_own AND layer <> 'gpu' AND line IS NOT NULL
  GROUP BY ALL
)
SELECT file, line, operation, layer, COALESCE(own_ns, 0) AS own_ns,
  IF(own_ns IS NULL, 0, own_corrected_ns) AS own_corrected_ns,
  COALESCE(below_ns2, 0) AS below_ns2, COALESCE(above_ns2, 0) AS above_ns2,
  COALESCE(total_ns, 0) AS total_ns
FROM _total FULL JOIN _own USING (file, line, operation, layer)

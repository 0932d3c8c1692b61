-- Time by stack that shares of the report are of: in the training loops of the processes that count. Of
-- a process whose stacks nobody read, no stack is known. Rows of layer gpu have the GPU time of what the
-- stack launched.
--   self_corrected_ns  self_ns without what recording cost; NULL: no cost is known
-- uses: counted_process
SELECT process_id, stack_id, operation, layer, SUM(self_ns) AS self_ns,
  SUM(self_corrected_ns) AS self_corrected_ns, COALESCE(SUM(gpu_ns), 0) AS gpu_ns
FROM stack_time
WHERE process_id IN (FROM counted_process) AND stage IN ('loop', 'whole')
  AND operation <> '(not recorded)'
GROUP BY ALL
UNION ALL
SELECT process_id, NULL, IF(operation = '(between operations)', '(none)', operation), layer,
  SUM(duration_ns), SUM(corrected_ns), 0
FROM training_loop
WHERE process_id NOT IN (SELECT process_id FROM stack_time)
GROUP BY ALL

-- Wall time of the training loop of each process, which shares are of: group_id NULL for the processes
-- that count, together, and the process_id for each of the $processes longest.
--   operation     between operations '(between operations)'
--   corrected_ns, and the ends of its interval: NULL without a calibration
-- The whole of a process that has no loop, where time in no operation is '(none)'.
-- uses: counted_process, longest_process
WITH _member AS (
  SELECT CAST(NULL AS BIGINT) AS group_id, process_id FROM counted_process
  UNION ALL
  SELECT process_id, process_id FROM longest_process
)
SELECT group_id,
  IF(stage = 'loop' AND operation = '(none)', '(between operations)', operation) AS operation,
  layer, gpu_busy, duration_ns, corrected_ns, corrected_low_ns, corrected_high_ns
FROM breakdown JOIN _member USING (process_id)
WHERE stage IN ('loop', 'whole') AND operation <> '(not recorded)'

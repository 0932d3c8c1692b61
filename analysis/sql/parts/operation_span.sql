-- Wall time of the training loop of each process, which shares are of: group_id NULL for the processes
-- that count, together, and the process_id for each of the $processes longest.
--   operation     between operations '(between operations)'; in a process without any '(none)'
--   corrected_ns, and the ends of its interval: NULL without a calibration
-- The whole of a process that has no loop.
-- uses: longest_process
WITH _time AS (
  SELECT CAST(NULL AS BIGINT) AS group_id, * FROM training_loop
  UNION ALL
  SELECT process_id, process_id, stage, phase,
    IF(stage = 'loop' AND operation = '(none)', '(between operations)', operation), * EXCLUDE (process_id, stage, phase, operation)
  FROM breakdown WHERE process_id IN (FROM longest_process)
)
SELECT group_id, operation, layer, gpu_busy, duration_ns, corrected_ns, corrected_low_ns,
  corrected_high_ns
FROM _time WHERE stage IN ('loop', 'whole') AND operation <> '(not recorded)'

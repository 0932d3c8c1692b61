-- How long the process of the loop ($process_id) could have run and had no CPU, and how long all did but $asking_id.
--   lacked_share  of the time over which that was counted
WITH _thread AS (
  SELECT process_id, runnable_ns, measured_ns FROM thread
  WHERE measured_ns > 0 AND runnable_ns IS NOT NULL AND process_id <> $asking_id
)
SELECT COALESCE(MAX(runnable_ns / measured_ns) FILTER (process_id = $process_id), 0) AS lacked_share,
  CAST(COALESCE(SUM(runnable_ns), 0) AS BIGINT) AS all_lacked_ns
FROM _thread

-- Wall time of each process from its first operation to its last, which shares are of: group_id NULL
-- for the processes that count, together, and the process_id for each of the $processes longest.
--   operation  between operations '(between operations)', in a process without any '(none)'
-- uses: counted_process, longest_process
WITH _member AS (
  SELECT CAST(NULL AS BIGINT) AS group_id, process_id FROM counted_process
  UNION ALL
  SELECT process_id, process_id FROM longest_process
), _span AS (
  SELECT process_id, operation, layer, gpu_busy, duration_ns FROM breakdown
  WHERE operation NOT IN ('(none)', '(not recorded)')
  UNION ALL
  SELECT process_id, IF(part = 'between', '(between operations)', '(none)'), layer, gpu_busy,
    duration_ns
  FROM outside WHERE part IN ('between', 'whole')
)
SELECT group_id, operation, layer, gpu_busy, duration_ns FROM _span JOIN _member USING (process_id)

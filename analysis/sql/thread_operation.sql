-- Operations that a thread was in while another one owned its process: one row per thread and
-- operation, for the operations of which some time is beside the process view; at most $rows rows,
-- the operations with the most of it first.
--   duration_ns  time of the thread with the operation innermost
--   layer_ns     time of that in its largest layer, layer
--   beside_ns    of the operation: time of all threads of the process less that of the process view
WITH _thread AS (
  SELECT process_id, thread_id, operation, layer, SUM(duration_ns) AS layer_ns
  FROM breakdown_by_thread WHERE operation NOT IN ('(none)', '(not recorded)')
  GROUP BY process_id, thread_id, operation, layer
), _beside AS (
  SELECT process_id, operation, SUM(ns) AS beside_ns FROM (
    SELECT process_id, operation, layer_ns AS ns FROM _thread
    UNION ALL
    SELECT process_id, operation, -duration_ns FROM breakdown)
  GROUP BY process_id, operation
), _largest AS (
  SELECT process_id, thread_id, operation, SUM(layer_ns) AS duration_ns,
    MAX(layer_ns) AS layer_ns, ARG_MAX(layer, (layer_ns, layer)) AS layer
  FROM _thread GROUP BY process_id, thread_id, operation
)
SELECT process.name AS process, os_pid, thread.name AS thread, os_tid, operation,
  CAST(duration_ns AS BIGINT) AS duration_ns, layer, CAST(layer_ns AS BIGINT) AS layer_ns,
  CAST(beside_ns AS BIGINT) AS beside_ns
FROM _largest JOIN _beside USING (process_id, operation)
  JOIN thread USING (process_id, thread_id) JOIN process USING (process_id)
WHERE beside_ns > 0
ORDER BY beside_ns DESC, process_id, operation, duration_ns DESC, thread_id
LIMIT $rows

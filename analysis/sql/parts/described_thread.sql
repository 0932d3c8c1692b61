-- The thread that the time of a process between operations is of: the one whose operations take the most
-- time, or the main thread: process_id, thread_id.
SELECT process_id, ARG_MAX(thread_id, (duration_ns, -thread_id)) AS thread_id
FROM (
  SELECT process_id, thread_id, SUM(duration_ns) AS duration_ns FROM breakdown_by_thread
  WHERE operation NOT IN ('(none)', '(not recorded)') GROUP BY ALL
  UNION ALL
  SELECT process_id, thread_id, 0 FROM thread JOIN process USING (process_id) WHERE os_tid = os_pid
)
GROUP BY process_id

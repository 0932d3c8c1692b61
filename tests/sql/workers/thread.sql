SELECT thread_id, process_id, os_tid, operation, sum(duration_ns) AS duration_ns
FROM thread JOIN breakdown_by_thread USING (process_id, thread_id)
WHERE operation != '(none)' GROUP BY ALL ORDER BY thread_id, operation

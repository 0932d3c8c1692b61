-- Of the time in which the threads of a process could run, the part in which they had a CPU: process_id,
-- cpu_part. NULL: not known.
SELECT process_id, SUM(running_ns) / NULLIF(SUM(running_ns) + SUM(runnable_ns), 0) AS cpu_part
FROM thread GROUP BY process_id

-- The part of the waits of each process in an operation that is for other processes: process_id,
-- operation, share.
-- uses: wait_target
SELECT process_id, operation,
  COALESCE(SUM(self_ns) FILTER (is_other), 0) / NULLIF(SUM(self_ns), 0) AS share
FROM wait_target GROUP BY ALL

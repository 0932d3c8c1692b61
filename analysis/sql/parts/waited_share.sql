-- The part of the waits of each process in an operation of its training loop that is for other
-- processes: process_id, operation, share.
-- uses: loop_wait
SELECT process_id, operation,
  COALESCE(SUM(self_ns) FILTER (is_other), 0) / NULLIF(SUM(self_ns), 0) AS share
FROM loop_wait GROUP BY ALL

-- The parts of the waits of each process in an operation of its training loop that are for other
-- processes, for its other threads, and for time: process_id, operation, share, thread_share, slept_share.
-- uses: loop_wait
SELECT process_id, operation,
  COALESCE(SUM(self_ns) FILTER (is_other), 0) / NULLIF(SUM(self_ns), 0) AS share,
  COALESCE(SUM(self_ns) FILTER (kind = 'thread'), 0) / NULLIF(SUM(self_ns), 0) AS thread_share,
  COALESCE(SUM(self_ns) FILTER (kind = 'sleep'), 0) / NULLIF(SUM(self_ns), 0) AS slept_share
FROM loop_wait GROUP BY ALL

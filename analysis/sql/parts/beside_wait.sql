-- For which other processes a thread without operations waits longest, beside the one that the time between
-- operations is of: process_id, stage, thread_id, peers, self_ns; one row for each process and stage. Of the
-- processes that count in shares.
-- uses: counted_process, described_thread, paired_wait
SELECT waiting.process_id, stage, waiting.thread_id, peers, SUM(self_ns) AS self_ns
FROM paired_wait AS waiting JOIN described_thread AS described USING (process_id)
WHERE process_id IN (FROM counted_process) AND operation = '(none)'
  AND waiting.thread_id <> described.thread_id
  AND peers IS NOT NULL AND NOT LIST_CONTAINS(peers, process_id)
GROUP BY waiting.process_id, stage, waiting.thread_id, peers
QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id, stage ORDER BY SUM(self_ns) DESC, waiting.thread_id) = 1

-- For what the processes that count in shares waited, by stage and operation: one row for what a process
-- waited for in them.
--   kind     of the waits; NULL where they were for processes of the run; 'thread' where they were for
--            another thread, 'other process' where no process of the run has the other end
--   peers    process_id of these processes, in order; NULL: none
--   is_other whether the waits were for other processes, be they known or not
--   self_ns  waits inside other waits once
-- uses: counted_process, described_wait
SELECT *,
  peers IS NOT NULL OR kind IN ('other process', 'process', 'result', 'task') AS is_other
FROM (
  SELECT process_id, stage, operation,
    CASE
      WHEN peers = [process_id] OR kind IN ('lock', 'queue') THEN 'thread'
      WHEN peers IS NOT NULL THEN NULL
      WHEN kind IN ('pipe', 'socket', 'semaphore') THEN 'other process'
      ELSE kind
    END AS kind,
    NULLIF(peers, [process_id]) AS peers, SUM(self_ns) AS self_ns
  FROM described_wait WHERE process_id IN (FROM counted_process)
  GROUP BY ALL
)

-- For what the processes that count in shares waited, by operation: one row for what a process waited for
-- in an operation.
--   kind     of the waits; NULL where they were for processes of the run; 'thread' where they were for
--            another thread, 'other process' where no process of the run has the other end
--   peers    process_id of these processes, in order; NULL: none
--   is_other whether the waits were for other processes, be they known or not
--   self_ns  waits inside other waits once
-- uses: counted_process, described_wait
WITH _peers AS (
  SELECT process_id, kind, object, function, LIST(peer_process_id ORDER BY peer_process_id) AS peers
  FROM wait_peer GROUP BY ALL
)
SELECT *,
  peers IS NOT NULL OR kind IN ('other process', 'process', 'result', 'task') AS is_other
FROM (
  SELECT wait.process_id, wait.operation,
    CASE
      WHEN peers = [wait.process_id] OR wait.kind IN ('lock', 'queue') THEN 'thread'
      WHEN peers IS NOT NULL THEN NULL
      WHEN wait.kind IN ('pipe', 'socket', 'semaphore') THEN 'other process'
      ELSE wait.kind
    END AS kind,
    NULLIF(peers, [wait.process_id]) AS peers, SUM(self_ns) AS self_ns
  FROM described_wait AS wait LEFT JOIN _peers ON _peers.process_id = wait.process_id
    AND _peers.kind = wait.kind AND _peers.object IS NOT DISTINCT FROM wait.object
    AND _peers.function IS NOT DISTINCT FROM wait.function
  WHERE wait.process_id IN (FROM counted_process)
  GROUP BY ALL
)

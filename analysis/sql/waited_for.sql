-- For what the processes that count in shares waited, by operation: the largest target of each first.
--   kind      of the waits; NULL where they were for processes of the run
--   role      of these processes; NULL: for none of them
--   name      of the process, where there is only one of the role
--   peers     how many processes of the role
--   self_ns   sum over the threads, waits inside other waits once
--   share     of all waits of the operation
-- uses: counted_process
WITH _target AS (
  SELECT operation, IF(peer.process_id IS NULL, kind, NULL) AS kind, peer.role, peer.process_id,
    peer.name, SUM(self_ns) AS self_ns
  FROM wait LEFT JOIN process AS peer ON peer.process_id = peer_process_id
  WHERE wait.process_id IN (FROM counted_process)
  GROUP BY ALL
)
SELECT operation, kind, role, IF(COUNT(process_id) = 1, MIN(name), NULL) AS name,
  COUNT(process_id) AS peers, CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  SUM(self_ns) / NULLIF(SUM(SUM(self_ns)) OVER (PARTITION BY operation), 0) AS share
FROM _target GROUP BY operation, kind, role
ORDER BY operation, self_ns DESC, kind, role

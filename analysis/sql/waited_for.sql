-- For what the processes that count in shares waited, by operation: the largest target of each first.
--   kind      of the waits; NULL where they were for processes of the run
--   role      of these processes; NULL: for none of them
--   name      of the process, where there is only one of the role
--   peers     how many processes of the role
--   self_ns   sum over the threads, waits inside other waits once
--   share     of all waits of the operation
--   loop_share  the same in the training loop, at least: waits in no operation may lie around it, and
--               all that do may have been for this target
-- uses: counted_process
WITH _target AS (
  SELECT operation, IF(peer.process_id IS NULL, kind, NULL) AS kind, peer.role, peer.process_id,
    peer.name, SUM(self_ns) AS self_ns
  FROM wait LEFT JOIN process AS peer ON peer.process_id = peer_process_id
  WHERE wait.process_id IN (FROM counted_process)
  GROUP BY ALL
), _around AS (
  SELECT COALESCE(SUM(duration_ns), 0) AS around_ns FROM breakdown
  WHERE operation = '(none)' AND layer = 'wait' AND stage IN ('start-up', 'end')
    AND process_id IN (FROM counted_process)
), _sum AS (
  SELECT operation, kind, role, IF(COUNT(process_id) = 1, MIN(name), NULL) AS name,
    COUNT(process_id) AS peers, SUM(self_ns) AS self_ns,
    SUM(SUM(self_ns)) OVER (PARTITION BY operation) AS all_ns
  FROM _target GROUP BY operation, kind, role
)
SELECT operation, kind, role, name, peers, CAST(self_ns AS BIGINT) AS self_ns,
  self_ns / NULLIF(all_ns, 0) AS share,
  IF(operation = '(none)', GREATEST(self_ns - around_ns, 0) / NULLIF(GREATEST(all_ns - around_ns, 0), 0),
    self_ns / NULLIF(all_ns, 0)) AS loop_share
FROM _sum, _around
ORDER BY operation, self_ns DESC, kind, role

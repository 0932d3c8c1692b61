-- For what each process that counts in shares waited, by operation: the longest first.
--   process     its name
--   kind, role, name, peers  as in waited_for
--   self_ns     sum over its threads, waits inside other waits once
--   process_ns  the same of all waits of the process
-- uses: counted_process
SELECT wait.process_id, ANY_VALUE(own.name) AS process, operation,
  IF(peer.process_id IS NULL, kind, NULL) AS kind, peer.role,
  IF(COUNT(DISTINCT peer.process_id) = 1, MIN(peer.name), NULL) AS name,
  COUNT(DISTINCT peer.process_id) AS peers, CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  CAST(SUM(SUM(self_ns)) OVER (PARTITION BY wait.process_id) AS BIGINT) AS process_ns
FROM wait JOIN process AS own ON own.process_id = wait.process_id
  LEFT JOIN process AS peer ON peer.process_id = peer_process_id
WHERE wait.process_id IN (FROM counted_process)
GROUP BY wait.process_id, operation, IF(peer.process_id IS NULL, kind, NULL), peer.role
ORDER BY self_ns DESC, wait.process_id, operation, kind, peer.role

-- Environment workers, and the operations in which a process waits for their steps, so not those that
-- close them: process_id, operation, worker_id.
SELECT DISTINCT wait.process_id, wait.operation, peer.peer_process_id AS worker_id
FROM wait JOIN wait_peer AS peer ON peer.process_id = wait.process_id AND peer.kind = wait.kind
  AND peer.object IS NOT DISTINCT FROM wait.object
  AND peer.function IS NOT DISTINCT FROM wait.function
  JOIN process AS worker ON worker.process_id = peer.peer_process_id
WHERE worker.role = 'environment worker' AND wait.operation <> '(none)'
  AND SPLIT_PART(wait.operation, '/', -1) <> 'closing'
  AND wait.process_id <> peer.peer_process_id

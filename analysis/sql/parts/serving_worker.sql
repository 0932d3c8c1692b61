-- Environment workers, and the operations in which a process waits for them: process_id, operation,
-- worker_id.
SELECT DISTINCT wait.process_id, wait.operation, peer_process_id AS worker_id
FROM wait JOIN process AS worker ON worker.process_id = peer_process_id
WHERE worker.role = 'environment worker' AND wait.operation <> '(none)'
  AND wait.process_id <> peer_process_id

-- Environment workers, and the operations in which a process waits for their steps, so not those that
-- close them: process_id, operation, worker_id. Workers of a pool do whole tasks, and are none.
-- uses: paired_wait
SELECT DISTINCT served.process_id, operation, worker_id
FROM (SELECT process_id, operation, UNNEST(peers) AS worker_id FROM paired_wait) AS served
  JOIN process AS worker ON worker.process_id = worker_id
WHERE worker.role = 'environment worker' AND NOT STARTS_WITH(worker.name, 'pool worker')
  AND operation <> '(none)'
  AND SPLIT_PART(operation, '/', -1) <> 'closing' AND served.process_id <> worker_id

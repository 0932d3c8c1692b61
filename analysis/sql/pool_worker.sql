-- Environment workers for which a thread of a process ($process_id) waits in its training loop, as the one that takes
-- the results of a pool: a row for each, the one that works longest first.
--   worked_ns  wall time of the worker's loop, without its waits
-- uses: beside_wait
WITH _peer AS (
  SELECT DISTINCT UNNEST(peers) AS process_id FROM beside_wait
  WHERE process_id = $process_id AND stage = 'loop'
)
SELECT process_id AS worker_id, CAST(SUM(duration_ns) AS BIGINT) AS worked_ns
FROM breakdown JOIN _peer USING (process_id) JOIN process USING (process_id)
WHERE role = 'environment worker' AND stage IN ('loop', 'whole') AND layer <> 'wait'
  AND operation <> '(not recorded)'
GROUP BY process_id ORDER BY worked_ns DESC, process_id

-- The workers of a pool that a process ($process_id) waits for in operations ($operations): one row, or
-- none where it waits for none. Those of a pool that is made for a round only are left out: a worker has to live
-- for half as long as that process.
--   workers, longest_ns, mean_ns  their time, without waits for tasks: for that process, or for each other
--   operation, wait_ns  that with most of the waits, and all of these
WITH _idle AS (
  SELECT process_id, SUM(self_ns) AS idle_ns FROM wait
  WHERE peer_process_id = $process_id OR kind = 'semaphore' GROUP BY process_id
), _worker AS (
  SELECT process_id, SUM(duration_ns) - COALESCE(ANY_VALUE(idle_ns), 0) AS worked_ns
  FROM breakdown JOIN process USING (process_id) LEFT JOIN _idle USING (process_id)
  WHERE parent_process_id = $process_id AND name LIKE 'pool worker %' GROUP BY process_id
  HAVING 2 * ANY_VALUE(process.end_ns - process.start_ns) >= (
    SELECT MAX(end_ns - start_ns) FROM process WHERE process_id = $process_id)
), _wait AS (
  SELECT operation, SUM(duration_ns) AS wait_ns FROM training_loop
  WHERE process_id = $process_id AND layer = 'wait' AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _all AS (
  SELECT ARG_MAX(operation, (wait_ns, operation)) AS operation, SUM(wait_ns) AS wait_ns FROM _wait
)
SELECT COUNT(*) AS workers, CAST(MAX(worked_ns) AS BIGINT) AS longest_ns,
  CAST(AVG(worked_ns) AS BIGINT) AS mean_ns, ANY_VALUE(operation) AS operation,
  CAST(ANY_VALUE(wait_ns) AS BIGINT) AS wait_ns
FROM _worker, _all WHERE wait_ns > 0 HAVING COUNT(*) > 1

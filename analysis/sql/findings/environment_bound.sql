-- What the environment takes of the loop of a process ($process_id), by operation of the group
-- simulation ($operations): time in which the process itself works, not waits.
--   cores  CPUs that the run could use; NULL: not known
WITH _work AS (
  SELECT operation, SUM(duration_ns) AS work_ns FROM training_loop
  WHERE process_id = $process_id AND operation IN (SELECT UNNEST($operations)) AND layer <> 'wait'
  GROUP BY operation
), _entry AS (
  SELECT path AS operation, COUNT(*) AS steps
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND iteration IS NOT NULL GROUP BY path
)
SELECT operation, CAST(work_ns AS BIGINT) AS work_ns, COALESCE(steps, 0) AS steps,
  (SELECT MAX(cores) FROM process JOIN host USING (host_id) WHERE process_id = $process_id) AS cores
FROM _work LEFT JOIN _entry USING (operation)
ORDER BY work_ns DESC

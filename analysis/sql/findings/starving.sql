-- How long the processes of a family ($family) work in their training loops, on a CPU and not in waits.
--   working_ns, loop_ns  of all of them, added up
--   queued_ns            in which their main threads wait for a semaphore there, as a full queue has
--   cores                CPUs that the run could use; NULL: not known
--   is_main              one of them is the run's first process, of which there is no second
-- uses: process_family
SELECT CAST(COALESCE(SUM(duration_ns) FILTER (layer <> 'wait'), 0) AS BIGINT) AS working_ns,
  CAST(COALESCE(SUM(duration_ns), 0) AS BIGINT) AS loop_ns,
  (SELECT CAST(COALESCE(SUM(self_ns), 0) AS BIGINT) FROM wait JOIN process_family USING (process_id)
    WHERE family = $family AND kind = 'semaphore' AND stage = 'loop'
      AND thread_id IN (SELECT ARG_MIN(thread_id, start_ns) FROM thread GROUP BY process_id)) AS queued_ns,
  MAX(cores) AS cores,
  COALESCE(BOOL_OR(role = 'main'), FALSE) AS is_main
FROM training_loop JOIN process_family USING (process_id) JOIN process USING (process_id)
  LEFT JOIN host USING (host_id)
WHERE family = $family

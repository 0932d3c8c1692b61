-- How long threads could have run and had no CPU, over those that had operations, by who they are.
--   role         NULL: the processes that count in shares; else workers that serve a process
--   threads, processes  how many, and to how many processes they belong
--   measured_ns  the time over which runnable_ns was counted: not the training loop alone
-- Without rows where the kernel does not say.
-- uses: counted_process
WITH _thread AS (
  SELECT DISTINCT process_id, thread_id FROM breakdown_by_thread
  WHERE operation NOT IN ('(none)', '(not recorded)')
)
SELECT IF(process_id IN (FROM counted_process), NULL, role) AS role,
  COUNT(*) AS threads, COUNT(DISTINCT process_id) AS processes,
  CAST(SUM(runnable_ns) AS BIGINT) AS runnable_ns, CAST(SUM(measured_ns) AS BIGINT) AS measured_ns
FROM _thread JOIN thread USING (process_id, thread_id) JOIN process USING (process_id)
WHERE measured_ns > 0 AND (process_id IN (FROM counted_process)
  OR role IN ('environment worker', 'data loader worker'))
GROUP BY 1
ORDER BY role NULLS FIRST

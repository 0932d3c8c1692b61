-- The complete iterations of the process that has the most, of those that count in shares: one row.
--   iterations  NULL: no process has any
-- uses: counted_process, own_iteration
SELECT MAX(iterations) AS iterations, CAST(ARG_MAX(mean_ns, iterations) AS BIGINT) AS mean_ns
FROM (
  SELECT COUNT(*) AS iterations, ROUND(AVG(duration_ns)) AS mean_ns FROM own_iteration
  WHERE process_id IN (FROM counted_process) GROUP BY process_id)

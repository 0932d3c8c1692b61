-- What a complete iteration costs in each operation, in the processes of iteration_summary: the
-- operation's own time (operation_instance.self_ns, all threads) of the entries made in it.
--   operation         '(between operations)': time of the process in none, as in iteration_breakdown
--   per_iteration     entries, divided by complete iterations; NULL between operations
--   mean_ns           own time, divided by complete iterations
--   median_ns, p95_ns over the iterations in which the operation was entered
-- For each process: at most the $operations largest, and the time between them. Iterations that are
-- not there whole any more (rls-prof --rollup) are left out.
-- uses: own_iteration, kept_from
WITH _complete AS (
  SELECT process_id, iteration, COUNT(*) OVER (PARTITION BY process_id) AS iterations
  FROM own_iteration LEFT JOIN kept_from USING (process_id)
  WHERE from_ns IS NULL OR start_ns >= from_ns
), _cost AS (
  SELECT process_id, iteration, ANY_VALUE(iterations) AS iterations, path,
    COUNT(*) AS entries, SUM(self_ns) AS self_ns
  FROM operation_instance JOIN _complete USING (process_id, iteration)
    JOIN operation USING (operation_id)
  GROUP BY process_id, iteration, path
  UNION ALL
  SELECT process_id, iteration, ANY_VALUE(iterations), '(between operations)', NULL, SUM(duration_ns)
  FROM iteration_breakdown JOIN _complete USING (process_id, iteration)
  WHERE operation = '(none)' GROUP BY process_id, iteration
), _summary AS (
  SELECT process_id, path, SUM(entries) / ANY_VALUE(iterations) AS per_iteration,
    SUM(self_ns) / ANY_VALUE(iterations) AS mean_ns, QUANTILE_CONT(self_ns, 0.5) AS median_ns,
    QUANTILE_CONT(self_ns, 0.95) AS p95_ns
  FROM _cost GROUP BY process_id, path
), _rank AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY mean_ns DESC, path) AS rank
  FROM _summary
)
SELECT process_id, path AS operation, per_iteration, CAST(ROUND(mean_ns) AS BIGINT) AS mean_ns,
  CAST(ROUND(median_ns) AS BIGINT) AS median_ns, CAST(ROUND(p95_ns) AS BIGINT) AS p95_ns
FROM _rank
WHERE rank <= $operations OR operation = '(between operations)'
ORDER BY process_id, rank

-- Length of the complete iterations in order, of the processes of iteration_summary, in at most
-- $points groups of consecutive iterations; a short run has one iteration per group.
--   first, last  numbers of the group's first and last iteration
-- uses: own_iteration
WITH _numbered AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY iteration) - 1 AS position,
    COUNT(*) OVER (PARTITION BY process_id) AS iterations,
    SUM(duration_ns) OVER (PARTITION BY process_id) AS whole_ns
  FROM own_iteration
), _grouped AS (
  SELECT *, position // ((iterations + $points - 1) // $points) AS point,
    DENSE_RANK() OVER (ORDER BY whole_ns DESC, process_id) AS rank
  FROM _numbered
)
SELECT process_id, point, MIN(iteration) AS first, MAX(iteration) AS last,
  CAST(ROUND(QUANTILE_CONT(duration_ns, 0.5)) AS BIGINT) AS median_ns,
  MIN(duration_ns) AS min_ns, MAX(duration_ns) AS max_ns
FROM _grouped
WHERE rank <= $processes
GROUP BY process_id, point
ORDER BY process_id, point

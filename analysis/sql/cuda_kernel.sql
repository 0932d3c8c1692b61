-- The kernels (and whole graphs) that take the most time in each operation, over all processes and
-- streams: the $kernels longest of each of the $operations operations with the most kernel time; the
-- others of the operation are one row whose `function` is NULL.
--   duration_ns  sum over launches: simultaneous kernels count twice, unlike in gpu_time
--   kernel_ns    the same of all kernels of the operation
--   functions    how many names are in the row
-- uses: launched_work
WITH _function AS (
  SELECT operation, "function", SUM("count") AS launches, SUM(launch_bound) AS launch_bound,
    SUM(duration_ns) AS duration_ns, MIN(min_ns) AS min_ns, MAX(max_ns) AS max_ns
  FROM launched_work GROUP BY operation, "function"
), _placed AS (
  SELECT *, SUM(duration_ns) OVER (PARTITION BY operation) AS kernel_ns,
    ROW_NUMBER() OVER (PARTITION BY operation ORDER BY duration_ns DESC, "function") AS place
  FROM _function
), _ranked AS (
  SELECT *, DENSE_RANK() OVER (ORDER BY kernel_ns DESC, operation) AS rank FROM _placed
)
SELECT operation, IF(place <= $kernels, "function", NULL) AS "function",
  CAST(SUM(launches) AS BIGINT) AS launches, CAST(SUM(launch_bound) AS BIGINT) AS launch_bound,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns, MIN(min_ns) AS min_ns, MAX(max_ns) AS max_ns,
  CAST(ANY_VALUE(kernel_ns) AS BIGINT) AS kernel_ns, COUNT(*) AS functions
FROM _ranked
WHERE rank <= $operations
GROUP BY rank, operation, LEAST(place, $kernels + 1), 2
ORDER BY rank, LEAST(place, $kernels + 1)

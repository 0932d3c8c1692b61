-- The kernels (and whole graphs) that take the most time over all operations: the $kernels longest,
-- the others in one row whose `function` is NULL.
--   duration_ns  sum over launches: simultaneous kernels count twice, unlike in gpu_time
--   kernel_ns    the same of all kernels
-- uses: launched_work
WITH _function AS (
  SELECT "function", SUM("count") AS launches, SUM(launch_bound) AS launch_bound,
    SUM(duration_ns) AS duration_ns
  FROM launched_work GROUP BY "function"
), _ranked AS (
  SELECT *, ROW_NUMBER() OVER (ORDER BY duration_ns DESC, "function") AS place FROM _function
)
SELECT IF(place <= $kernels, "function", NULL) AS "function",
  CAST(SUM(launches) AS BIGINT) AS launches, CAST(SUM(launch_bound) AS BIGINT) AS launch_bound,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST((SELECT SUM(duration_ns) FROM _function) AS BIGINT) AS kernel_ns, COUNT(*) AS functions
FROM _ranked
GROUP BY LEAST(place, $kernels + 1), 1
ORDER BY LEAST(place, $kernels + 1)

-- GPU work of each operation, and waiting for it: the $operations with the
-- most GPU time, the others in one row "(other operations)".
--   launches      kernels and graphs of its launches
--   launch_bound  those whose stream was idle at the end of the launch call
--   launched_ns   GPU time of what it launched: a union per process and device, added up over those
--   while_ns      GPU time while it owned its process: likewise
--   api_ns        in CUDA calls, waiting_ns of it for GPU work
--   gpu_ns        GPU time of all operations: the sum of while_ns
-- uses: launched_work
WITH _part AS (
  SELECT operation, "count" AS launches, launch_bound, 0 AS launched_ns, 0 AS while_ns, 0 AS api_ns,
    0 AS waiting_ns
  FROM launched_work
  UNION ALL SELECT operation, 0, 0, launched_ns, while_ns, 0, 0 FROM gpu_time
  UNION ALL SELECT operation, 0, 0, 0, 0, duration_ns, 0 FROM api_call
  UNION ALL SELECT operation, 0, 0, 0, 0, 0, waiting_ns FROM sync
), _operation AS (
  SELECT operation, SUM(launches) AS launches, SUM(launch_bound) AS launch_bound,
    SUM(launched_ns) AS launched_ns, SUM(while_ns) AS while_ns, SUM(api_ns) AS api_ns,
    SUM(waiting_ns) AS waiting_ns
  FROM _part GROUP BY operation
), _ranked AS (
  SELECT *, ROW_NUMBER() OVER (
    ORDER BY GREATEST(launched_ns, while_ns) DESC, api_ns DESC, operation) AS place
  FROM _operation
)
SELECT IF(place <= $operations, operation, '(other operations)') AS operation,
  CAST(SUM(launches) AS BIGINT) AS launches, CAST(SUM(launch_bound) AS BIGINT) AS launch_bound,
  CAST(SUM(launched_ns) AS BIGINT) AS launched_ns, CAST(SUM(while_ns) AS BIGINT) AS while_ns,
  CAST(SUM(api_ns) AS BIGINT) AS api_ns, CAST(SUM(waiting_ns) AS BIGINT) AS waiting_ns,
  CAST((SELECT COALESCE(SUM(while_ns), 0) FROM gpu_time) AS BIGINT) AS gpu_ns
FROM _ranked
GROUP BY LEAST(place, $operations + 1), 1
ORDER BY LEAST(place, $operations + 1)

-- Operations of a process ($process_id) that launch kernels one by one, those first in which the GPU is idle
-- for longest meanwhile.
--   entries      into the operation; NULL: none is counted
--   launches     calls that launched one kernel each. Kernels of a graph have none of their own
--   graphs       calls that launched a graph
--   bound        share of kernels and graphs whose stream was idle when they came (launch_bound)
--   kernel_ns    of all kernels
--   cpu_ns       time of the loop in the framework's work on the CPU and in launches, and at most as much in
--                Python: more is not about launches
--   idle_ns      the part of it in which the GPU was idle
--   launched_ns  GPU time of what the operation launched
-- Where GPU work was recorded in windows, all of these are estimates for the whole loop.
-- uses: launched_work, known_idle, work_factor, call_coverage
WITH _call AS (
  SELECT operation,
    SUM(IF(factor IS NULL, with_work, calls * IF(calls_everywhere, 1, factor)))
      FILTER (regexp_matches(name, 'Launch.*Kernel')) AS launches,
    SUM(calls * IF(calls_everywhere, 1, factor)) FILTER (name LIKE '%GraphLaunch%') AS graphs
  FROM api_call LEFT JOIN work_factor USING (process_id, operation) CROSS JOIN call_coverage
  WHERE process_id = $process_id GROUP BY operation
), _work AS (
  SELECT operation, SUM("count") AS kernels, SUM(launch_bound) AS bound,
    SUM(duration_ns * COALESCE(factor, 1)) AS kernel_ns
  FROM launched_work LEFT JOIN work_factor USING (process_id, operation)
  WHERE process_id = $process_id GROUP BY operation
), _gpu AS (
  SELECT operation, SUM(launched_ns * COALESCE(factor, 1)) AS launched_ns
  FROM gpu_time LEFT JOIN work_factor USING (process_id, operation)
  WHERE process_id = $process_id GROUP BY operation
), _state AS (
  SELECT operation, SUM(duration_ns) FILTER (NOT gpu_busy) AS idle_ns,
    COALESCE(SUM(duration_ns) FILTER (reason = 'python'), 0) AS python_ns,
    COALESCE(SUM(duration_ns) FILTER (reason <> 'python'), 0) AS launching_ns
  FROM known_idle
  WHERE process_id = $process_id AND stage = 'loop' AND gpu_busy IS NOT NULL
    AND reason IN ('python', 'framework', 'launch')
  GROUP BY operation
), _time AS (
  SELECT operation, launching_ns + LEAST(python_ns, launching_ns) AS cpu_ns,
    LEAST(idle_ns, launching_ns + LEAST(python_ns, launching_ns)) AS idle_ns
  FROM _state
), _entry AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
)
SELECT operation, entries, CAST(launches AS BIGINT) AS launches,
  CAST(COALESCE(graphs, 0) AS BIGINT) AS graphs, CAST(bound / kernels AS DOUBLE) AS bound,
  CAST(kernel_ns AS BIGINT) AS kernel_ns, CAST(cpu_ns AS BIGINT) AS cpu_ns,
  CAST(COALESCE(idle_ns, 0) AS BIGINT) AS idle_ns, CAST(launched_ns AS BIGINT) AS launched_ns
FROM _call JOIN _work USING (operation) JOIN _gpu USING (operation) JOIN _time USING (operation)
  LEFT JOIN _entry USING (operation)
WHERE launches > 0
ORDER BY idle_ns DESC, operation

-- CUDA of the whole run in one row.
--   launches, launch_bound  kernels and graphs whose launch is in the trace
--   unlinked                pieces of GPU work whose launch is not
--   without_work            launch calls without GPU work: captured into a graph, failed, or lost
--   apart_ns                GPU time: a union per process and device, added up over those
--   gpu_ns                  the same with a GPU that processes share counted once (gpu_device)
--   seen, iterations        of processes with GPU work in windows: iterations of which all GPU work
--                           was recorded, and complete ones
--   calls_everywhere        calls were recorded outside of windows, too
-- without_work, apart_ns and gpu_ns leave out processes whose GPU work was not recorded; NULL: there
-- are no others.
-- uses: launched_work, call_coverage
WITH _work AS (
  SELECT operation, "count" FROM launched_work
  UNION ALL SELECT operation, "count" FROM memcpy
  UNION ALL SELECT operation, "count" FROM memset
), _apart AS (
  SELECT CAST(SUM(while_ns) AS BIGINT) AS apart_ns FROM (
    SELECT while_ns FROM gpu_time UNION ALL SELECT 0 FROM api_call WHERE with_work IS NOT NULL)
), _seen AS (
  SELECT COUNT(*) FILTER (gpu_recorded) AS seen, COUNT(*) FILTER (complete) AS iterations
  FROM iteration
  WHERE process_id IN (SELECT process_id FROM loss WHERE kind = 'gpu_unrecorded')
), _device AS (
  SELECT CAST(COALESCE(SUM(busy_ns), 0) AS BIGINT) AS busy_ns FROM gpu_device
)
SELECT
  CAST((SELECT COALESCE(SUM(calls), 0) FROM api_call) AS BIGINT) AS calls,
  CAST((SELECT COALESCE(SUM(duration_ns), 0) FROM api_call) AS BIGINT) AS api_ns,
  CAST((SELECT COALESCE(SUM(errors), 0) FROM api_call) AS BIGINT) AS errors,
  CAST((SELECT COALESCE(SUM("count"), 0) FROM launched_work WHERE operation <> '(unlinked)') AS BIGINT)
    AS launches,
  CAST((SELECT COALESCE(SUM(launch_bound), 0) FROM launched_work) AS BIGINT) AS launch_bound,
  CAST((SELECT COALESCE(SUM("count"), 0) FROM _work WHERE operation = '(unlinked)') AS BIGINT)
    AS unlinked,
  CAST((SELECT COALESCE(SUM(calls - with_work), 0) FROM api_call
        WHERE regexp_matches(name, '^(__)?cu(da)?(Launch|GraphLaunch)')
          AND name NOT LIKE '%HostFunc%') AS BIGINT) AS without_work,
  apart_ns, IF(apart_ns IS NULL, NULL, busy_ns) AS gpu_ns, seen, iterations,
  calls_everywhere
FROM _apart, _device, _seen CROSS JOIN call_coverage

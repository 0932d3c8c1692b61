-- CUDA of the whole run in one row.
--   launches, launch_bound  kernels and graphs whose launch is in the trace
--   unlinked                pieces of GPU work whose launch is not
--   without_work            launch calls without GPU work: captured into a graph, failed, or lost
--   gpu_ns                  GPU time: a union per process and device, added up over those
-- The last two leave out processes whose GPU work was not recorded; NULL: there are no others.
WITH _launch AS (
  SELECT operation, "count", launch_bound FROM kernel
  UNION ALL SELECT operation, "count", launch_bound FROM graph
), _work AS (
  SELECT operation, "count" FROM _launch
  UNION ALL SELECT operation, "count" FROM memcpy
  UNION ALL SELECT operation, "count" FROM memset
)
SELECT
  CAST((SELECT COALESCE(SUM(calls), 0) FROM api_call) AS BIGINT) AS calls,
  CAST((SELECT COALESCE(SUM(duration_ns), 0) FROM api_call) AS BIGINT) AS api_ns,
  CAST((SELECT COALESCE(SUM(errors), 0) FROM api_call) AS BIGINT) AS errors,
  CAST((SELECT COALESCE(SUM("count"), 0) FROM _launch WHERE operation <> '(unlinked)') AS BIGINT)
    AS launches,
  CAST((SELECT COALESCE(SUM(launch_bound), 0) FROM _launch) AS BIGINT) AS launch_bound,
  CAST((SELECT COALESCE(SUM("count"), 0) FROM _work WHERE operation = '(unlinked)') AS BIGINT)
    AS unlinked,
  CAST((SELECT COALESCE(SUM(calls - with_work), 0) FROM api_call
        WHERE regexp_matches(name, '^(__)?cu(da)?(Launch|GraphLaunch)')
          AND name NOT LIKE '%HostFunc%') AS BIGINT) AS without_work,
  CAST((SELECT SUM(while_ns) FROM (
    SELECT while_ns FROM gpu_time UNION ALL SELECT 0 FROM api_call WHERE with_work IS NOT NULL))
    AS BIGINT) AS gpu_ns

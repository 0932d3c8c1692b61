-- The whole run, as rls.progress(done, total) lets one expect: per reporting process
--   done, total  the last report
--   elapsed_ns   from the start of the process to that report
--   whole_ns     elapsed_ns and the rest at the rate between the first report and the last one (a
--                single report: at the rate since the start); NULL while nothing is done
--   reports      reports in the trace
WITH _report AS (
  SELECT process_id, ARG_MIN(done, start_ns) AS first_done, MIN(start_ns) AS first_ns,
    ARG_MAX(done, start_ns) AS done, ARG_MAX(total, start_ns) AS total,
    MAX(start_ns) AS last_ns, COUNT(*) AS reports
  FROM progress GROUP BY process_id
), _rate AS (
  SELECT *, last_ns - process.start_ns AS elapsed_ns,
    IF(last_ns > first_ns AND done > first_done, (last_ns - first_ns) / (done - first_done),
      (last_ns - process.start_ns) / NULLIF(done, 0)) AS ns_per_done
  FROM _report JOIN process USING (process_id)
)
SELECT process_id, name, reports, done, total, done / NULLIF(total, 0) AS share,
  elapsed_ns, CAST(ROUND(elapsed_ns + GREATEST(total - done, 0) * ns_per_done) AS BIGINT)
    AS whole_ns
FROM _rate
ORDER BY elapsed_ns DESC, process_id
LIMIT $processes

-- The kernels, and whole graphs, of all processes by the name in the source. Where GPU work was recorded in
-- windows, estimates for all of it.
-- uses: launched_work, work_factor
SELECT "function", CAST(SUM("count" * COALESCE(factor, 1)) AS BIGINT) AS launches,
  CAST(SUM(duration_ns * COALESCE(factor, 1)) AS BIGINT) AS duration_ns
FROM launched_work LEFT JOIN work_factor USING (process_id, operation)
GROUP BY "function"
ORDER BY duration_ns DESC, "function" LIMIT $kernels

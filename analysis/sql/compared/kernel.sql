-- The kernels, and whole graphs, of all processes by the name in the source.
-- uses: launched_work
SELECT "function", CAST(SUM("count") AS BIGINT) AS launches,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM launched_work GROUP BY "function"
ORDER BY duration_ns DESC, "function" LIMIT $kernels

-- Which process was critical in the complete iterations of processes that wait for environment workers:
-- the one to which most of the iteration belongs (parts/iteration_share.sql).
--   process, critical    names
--   iterations, of       how many of the iterations it was critical in, and how many there are
--   rolled_up            whether there were iterations before, of which only the sums were kept
--   critical_ns          time of all iterations that belongs to it
-- uses: iteration_share
SELECT process_id, process.name AS process, critical_id, critical.name AS critical,
  COUNT(*) FILTER (place = 1) AS iterations,
  (SELECT COUNT(DISTINCT iteration) FROM iteration_share AS each
    WHERE each.process_id = share.process_id) AS "of",
  ANY_VALUE(from_ns) IS NOT NULL AS rolled_up, CAST(SUM(time_ns) AS BIGINT) AS critical_ns
FROM iteration_share AS share JOIN process USING (process_id)
  JOIN process AS critical ON critical.process_id = critical_id
GROUP BY ALL
ORDER BY process_id, iterations DESC, critical_ns DESC, critical_id

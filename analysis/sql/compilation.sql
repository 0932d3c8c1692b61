-- Functions that libraries compiled, of the processes that count in shares, those that took longest first.
--   total_ns   over these processes; all_ns: of all functions
--   whole_ns   how long the processes that compiled lived, added up
-- uses: counted_process
WITH _counted AS (
  SELECT * FROM compilation WHERE process_id IN (FROM counted_process)
), _whole AS (
  SELECT CAST(SUM(end_ns - start_ns) AS BIGINT) AS whole_ns FROM process
  WHERE process_id IN (SELECT process_id FROM _counted)
)
SELECT compiler, function, file, line, CAST(SUM("count") AS BIGINT) AS "count",
  CAST(SUM(total_ns) AS BIGINT) AS total_ns,
  CAST(SUM(SUM(total_ns)) OVER () AS BIGINT) AS all_ns, COUNT(*) OVER () AS functions,
  ANY_VALUE(whole_ns) AS whole_ns
FROM _counted, _whole GROUP BY compiler, function, file, line
ORDER BY total_ns DESC, compiler, function, file, line
LIMIT $rows

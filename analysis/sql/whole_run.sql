-- What prices are of where no process has a training loop: all that the process did which worked longest.
--   process_id  of those that count in shares, and of which no part is known to be a loop
--   loop_ns     its wall time; run_ns: that of the run
-- uses: counted_process
WITH _whole AS (
  SELECT process_id, SUM(duration_ns) AS loop_ns,
    SUM(duration_ns) FILTER (layer NOT IN ('wait', 'none')) AS worked_ns
  FROM breakdown
  WHERE stage = 'whole' AND operation <> '(not recorded)' AND process_id IN (FROM counted_process)
  GROUP BY process_id
)
SELECT process_id, CAST(loop_ns AS BIGINT) AS loop_ns,
  COALESCE((SELECT MAX(end_ns) - MIN(start_ns) FROM run), CAST(loop_ns AS BIGINT)) AS run_ns
FROM _whole WHERE worked_ns > 0 ORDER BY worked_ns DESC, process_id LIMIT 1

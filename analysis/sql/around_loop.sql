-- Time around the training loops of the processes that count in shares, by outermost operation.
--   stage      start-up or end
--   operation  NULL: in none
--   stage_ns   sum over the rows of the stage
-- uses: counted_process
WITH _around AS (
  SELECT stage, NULLIF(REGEXP_EXTRACT(operation, '^(?:[^\\/]|\\.)*'), '(none)') AS outermost,
    SUM(duration_ns) AS duration_ns
  FROM breakdown
  WHERE stage IN ('start-up', 'end') AND operation <> '(not recorded)'
    AND process_id IN (FROM counted_process)
  GROUP BY ALL
)
SELECT stage, outermost AS operation, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY stage) AS BIGINT) AS stage_ns
FROM _around
ORDER BY stage DESC, duration_ns DESC, operation

-- Time around the training loops of the processes that count in shares, by outermost operation.
--   stage      start-up, warm-up or end, in this order
--   operation  NULL: in none
--   stage_ns   sum over the rows of the stage
--   stage_waited_ns  of that in layer wait
-- uses: counted_process
WITH _around AS (
  SELECT stage, NULLIF(REGEXP_EXTRACT(operation, '^(?:[^\\/]|\\.)*'), '(none)') AS outermost,
    SUM(duration_ns) AS duration_ns,
    COALESCE(SUM(duration_ns) FILTER (layer = 'wait'), 0) AS waited_ns
  FROM breakdown
  WHERE stage IN ('start-up', 'warm-up', 'end') AND operation <> '(not recorded)'
    AND process_id IN (FROM counted_process)
  GROUP BY ALL
)
SELECT stage, outermost AS operation, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY stage) AS BIGINT) AS stage_ns,
  CAST(SUM(waited_ns) OVER (PARTITION BY stage) AS BIGINT) AS stage_waited_ns
FROM _around
ORDER BY LIST_POSITION(['start-up', 'warm-up', 'end'], stage), duration_ns DESC, operation

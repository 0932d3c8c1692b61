-- Time around the training loops of the processes that count in shares, by outermost operation.
--   stage      start-up, warm-up or end, in this order
--   operation  NULL: in none; '(shutdown)': in none, after all exit functions of Python
--   stage_ns   sum over the rows of the stage
--   stage_waited_ns  of that in layer wait
-- uses: counted_process
WITH _around AS (
  SELECT process_id, stage, NULLIF(REGEXP_EXTRACT(operation, '^(?:[^\\/]|\\.)*'), '(none)') AS outermost,
    duration_ns, layer
  FROM breakdown
  WHERE stage IN ('start-up', 'warm-up', 'end') AND operation <> '(not recorded)'
    AND process_id IN (FROM counted_process)
), _shutdown AS (  -- in layer none, as Python has ended
  SELECT LEAST(COALESCE(SUM(duration_ns) FILTER (outermost IS NULL AND layer = 'none'), 0),
    GREATEST(end_ns - python_end_ns, 0)) AS duration_ns
  FROM _around JOIN process USING (process_id)
  WHERE stage = 'end' GROUP BY process_id, end_ns, python_end_ns
), _part AS (
  SELECT stage, outermost AS operation, duration_ns, IF(layer = 'wait', duration_ns, 0) AS waited_ns
  FROM _around
  UNION ALL
  SELECT 'end', UNNEST(['(shutdown)', NULL]), UNNEST([duration_ns, -duration_ns]), 0
  FROM _shutdown WHERE duration_ns > 0
), _sum AS (
  SELECT stage, operation, SUM(duration_ns) AS duration_ns, SUM(waited_ns) AS waited_ns
  FROM _part GROUP BY ALL HAVING SUM(duration_ns) > 0
)
SELECT stage, operation, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY stage) AS BIGINT) AS stage_ns,
  CAST(SUM(waited_ns) OVER (PARTITION BY stage) AS BIGINT) AS stage_waited_ns
FROM _sum
ORDER BY LIST_POSITION(['start-up', 'warm-up', 'end'], stage), duration_ns DESC, operation

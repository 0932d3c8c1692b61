-- Wall time in the training loop, which the shares of a report are of: of every operation by layer and
-- GPU activity.
--   process_id    NULL: all processes that count, together (parts/counted_process.sql); else one of the
--                 $processes longest, those with a loop first
--   operation     beyond the $operations largest of its group: '(other operations)'; between
--                 operations '(between operations)', in a process without any '(none)'
--   operation_ns  sum over the rows of the operation in the group
--   group_ns      sum over the rows of the group: its time in the loop
--   corrected_ns, operation_corrected_ns, group_corrected_ns
--                 the three times without what recording cost; NULL without a calibration
-- uses: operation_span
WITH _time AS (
  SELECT group_id, operation, layer, COALESCE(gpu_busy, FALSE) AS gpu_busy,
    SUM(duration_ns) AS duration_ns,
    SUM(corrected_ns) AS corrected_ns
  FROM operation_span
  GROUP BY ALL
), _rank AS (
  SELECT group_id, operation,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY SUM(duration_ns) DESC, operation) AS rank
  FROM _time GROUP BY group_id, operation
), _folded AS (
  SELECT _time.group_id,
    CASE WHEN rank <= $operations THEN _time.operation ELSE '(other operations)' END AS operation,
    layer, gpu_busy, SUM(duration_ns) AS duration_ns,
    SUM(corrected_ns) AS corrected_ns
  FROM _time JOIN _rank ON _rank.group_id IS NOT DISTINCT FROM _time.group_id
    AND _rank.operation = _time.operation
  GROUP BY ALL
)
SELECT group_id AS process_id, operation, layer, gpu_busy,
  CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY group_id, operation) AS BIGINT) AS operation_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY group_id) AS BIGINT) AS group_ns,
  CAST(corrected_ns AS BIGINT) AS corrected_ns,
  CAST(SUM(corrected_ns) OVER (PARTITION BY group_id, operation) AS BIGINT)
    AS operation_corrected_ns,
  CAST(SUM(corrected_ns) OVER (PARTITION BY group_id) AS BIGINT) AS group_corrected_ns
FROM _folded
ORDER BY process_id NULLS FIRST, operation_ns DESC, operation, layer, gpu_busy

-- Wall time by GPU state in the training loop: of every operation, and of all together (operation
-- NULL).
--   state  cpu: a layer other than wait, and no GPU work; cpu+gpu: both; gpu: only GPU work;
--          waiting: layer wait and no GPU work; idle: no layer and no GPU work;
--          unknown: GPU work of the process was not recorded
-- process_id, operation, operation_ns, group_ns and the corrected times as in operation_time.
-- uses: operation_span
WITH _time AS (
  SELECT group_id, operation,
    CASE WHEN gpu_busy IS NULL THEN 'unknown'
      WHEN layer NOT IN ('wait', 'none') THEN IF(gpu_busy, 'cpu+gpu', 'cpu')
      WHEN gpu_busy THEN 'gpu'
      ELSE IF(layer = 'wait', 'waiting', 'idle') END AS state,
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
    state, SUM(duration_ns) AS duration_ns,
    SUM(corrected_ns) AS corrected_ns
  FROM _time JOIN _rank ON _rank.group_id IS NOT DISTINCT FROM _time.group_id
    AND _rank.operation = _time.operation
  GROUP BY ALL
), _total AS (
  SELECT group_id, CAST(NULL AS VARCHAR) AS operation, state, SUM(duration_ns) AS duration_ns,
    SUM(corrected_ns) AS corrected_ns
  FROM _folded GROUP BY group_id, state
  UNION ALL
  FROM _folded
)
SELECT group_id AS process_id, operation, state, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY group_id, operation) AS BIGINT) AS operation_ns,
  CAST(SUM(duration_ns) FILTER (operation IS NULL) OVER (PARTITION BY group_id) AS BIGINT)
    AS group_ns,
  CAST(corrected_ns AS BIGINT) AS corrected_ns,
  CAST(SUM(corrected_ns) OVER (PARTITION BY group_id, operation) AS BIGINT)
    AS operation_corrected_ns,
  CAST(SUM(corrected_ns) FILTER (operation IS NULL) OVER (PARTITION BY group_id) AS BIGINT)
    AS group_corrected_ns
FROM _total
ORDER BY process_id NULLS FIRST, operation_ns DESC, operation NULLS FIRST, state

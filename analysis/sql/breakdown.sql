-- Wall time along the dimensions that the list $by names, largest first within a process; columns of
-- other dimensions are NULL.
--   state  cpu: a layer other than wait, and no GPU work; cpu+gpu: both; gpu: only GPU work;
--          waiting: layer wait and no GPU work; idle: no layer and no GPU work;
--          unknown: GPU work of the process was not recorded
-- With "thread" each thread counts by its own operations and layers, else the process.
WITH _time AS (
  FROM breakdown WHERE NOT list_contains($by, 'thread')
  UNION ALL BY NAME
  FROM breakdown_by_thread WHERE list_contains($by, 'thread')
), _named AS (
  SELECT _time.*, process.name AS process, process.role AS role, thread.name AS thread,
    CASE WHEN gpu_busy IS NULL THEN 'unknown'
      WHEN layer NOT IN ('wait', 'none') THEN IF(gpu_busy, 'cpu+gpu', 'cpu')
      WHEN gpu_busy THEN 'gpu'
      ELSE IF(layer = 'wait', 'waiting', 'idle') END AS state
  FROM _time JOIN process USING (process_id)
    LEFT JOIN thread ON thread.thread_id = _time.thread_id
)
SELECT
  IF(list_contains($by, 'process'), process_id, NULL) AS process_id,
  IF(list_contains($by, 'process'), process, NULL) AS process,
  IF(list_contains($by, 'name'), process, NULL) AS name,
  IF(list_contains($by, 'role'), role, NULL) AS role,
  IF(list_contains($by, 'thread'), thread_id, NULL) AS thread_id,
  IF(list_contains($by, 'thread'), thread, NULL) AS thread,
  IF(list_contains($by, 'stage'), stage, NULL) AS stage,
  IF(list_contains($by, 'phase'), phase, NULL) AS phase,
  IF(list_contains($by, 'operation'), operation, NULL) AS operation,
  IF(list_contains($by, 'source'), source, NULL) AS source,
  IF(list_contains($by, 'layer'), layer, NULL) AS layer,
  IF(list_contains($by, 'gpu_busy'), gpu_busy, NULL) AS gpu_busy,
  IF(list_contains($by, 'state'), state, NULL) AS state,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(SUM(overhead_ns) AS BIGINT) AS overhead_ns,
  CAST(SUM(corrected_ns) AS BIGINT) AS corrected_ns,
  CAST(SUM(corrected_low_ns) AS BIGINT) AS corrected_low_ns,
  CAST(SUM(corrected_high_ns) AS BIGINT) AS corrected_high_ns,
  CAST(SUM("count") AS BIGINT) AS "count"
FROM _named
GROUP BY ALL
ORDER BY 1, duration_ns DESC, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13

-- Why the training loops do not go on, or their GPU is idle: time by operation and reason, the longest
-- first. The processes are those that shares are of, in their loops and warm-ups.
--   duration_ns  wall time
--   idle_ns      the part in which no GPU work of the process ran; NULL: the process uses no GPU
--   whole_ns     of all rows
-- uses: known_idle
WITH _using AS (
  SELECT DISTINCT process_id FROM gpu_time
), _row AS (
  SELECT operation, source, reason, duration_ns,
    IF(process_id IN (FROM _using), IF(gpu_busy, 0, IF(gpu_busy IS NULL, NULL, duration_ns)), NULL) AS idle_ns
  FROM known_idle
  WHERE process_id IN (SELECT process_id FROM training_loop)
    AND stage IN ('loop', 'warm-up', 'whole')
)
SELECT operation, source, reason, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(SUM(idle_ns) AS BIGINT) AS idle_ns,
  CAST(SUM(SUM(duration_ns)) OVER () AS BIGINT) AS whole_ns
FROM _row GROUP BY operation, source, reason
ORDER BY duration_ns DESC, operation, source, reason

-- Length of the complete iterations of each process that has iterations.
--   first_tenth_ns, last_tenth_ns  median of the first and of the last tenth; NULL below 200, and where one in 20
--                                  of a tenth is twice as long as its median, or where their medians have other
--                                  numbers of entries into operations: they differ by what they do, as episodes
--                                  do. Recording GPU work makes iterations longer: where some are
--                                  without it, these count
--   drift                          last_tenth_ns / first_tenth_ns - 1
--   steps                          what another tool calls the iterations; NULL: the same, or none did
-- uses: own_iteration
WITH _entries AS (
  SELECT process_id, iteration, COUNT(*) AS entries FROM operation_instance
  WHERE iteration IS NOT NULL GROUP BY process_id, iteration
), _like AS (
  SELECT *, gpu_recorded IS NOT DISTINCT FROM
    BOOL_AND(gpu_recorded) OVER (PARTITION BY process_id) AS is_like
  FROM own_iteration LEFT JOIN _entries USING (process_id, iteration)
), _tenth AS (
  SELECT *, NTILE(10) OVER (PARTITION BY process_id, is_like ORDER BY iteration) AS tenth
  FROM _like
), _summary AS (
  SELECT process_id, COUNT(*) AS iterations, ANY_VALUE(source) AS source,
    AVG(duration_ns) AS mean_ns, QUANTILE_CONT(duration_ns, 0.5) AS median_ns,
    QUANTILE_CONT(duration_ns, 0.95) AS p95_ns, MIN(duration_ns) AS min_ns,
    MAX(duration_ns) AS max_ns, SUM(duration_ns) AS duration_ns,
    QUANTILE_CONT(duration_ns, 0.5) FILTER (is_like AND tenth = 1) AS first_ns,
    QUANTILE_CONT(duration_ns, 0.5) FILTER (is_like AND tenth = 10) AS last_ns,
    COUNT(*) FILTER (is_like) >= 200
      AND QUANTILE_CONT(duration_ns, 0.95) FILTER (is_like AND tenth = 1) < 2 * first_ns
      AND QUANTILE_CONT(duration_ns, 0.95) FILTER (is_like AND tenth = 10) < 2 * last_ns
      AND ABS(COALESCE(QUANTILE_CONT(entries, 0.5) FILTER (is_like AND tenth = 10)
        / QUANTILE_CONT(entries, 0.5) FILTER (is_like AND tenth = 1), 1) - 1) <= 0.05 AS are_alike
  FROM _tenth GROUP BY process_id
)
SELECT process_id, process.name, iterations, source,
  CAST(ROUND(mean_ns) AS BIGINT) AS mean_ns, CAST(ROUND(median_ns) AS BIGINT) AS median_ns,
  CAST(ROUND(p95_ns) AS BIGINT) AS p95_ns, min_ns, max_ns,
  CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(ROUND(IF(are_alike, first_ns, NULL)) AS BIGINT) AS first_tenth_ns,
  CAST(ROUND(IF(are_alike, last_ns, NULL)) AS BIGINT) AS last_tenth_ns,
  IF(are_alike, last_ns / NULLIF(first_ns, 0) - 1, NULL) AS drift,
  (SELECT ANY_VALUE(value) FROM metadata
    WHERE key = 'rlscope.steps' AND metadata.process_id = _summary.process_id) AS steps
FROM _summary JOIN process USING (process_id)
ORDER BY duration_ns DESC, process_id
LIMIT $processes

-- The timeline by layer, at the finest level that has at most $buckets buckets, of the $processes
-- longest processes (those with operations first).
--   bucket    number of the bucket, from 0 at the process's first
--   start_ns  start of the bucket since the run began
--   layer     '(not recorded)' in the gaps between windows
WITH _process AS (
  SELECT process_id FROM process
  ORDER BY process_id IN (
      SELECT process_id FROM breakdown WHERE operation NOT IN ('(none)', '(not recorded)')) DESC,
    end_ns - start_ns DESC, process_id
  LIMIT $processes
), _level AS (
  SELECT process_id, MIN(level) AS level, ANY_VALUE(first_ns) AS first_ns FROM (
    SELECT process_id, level, COUNT(DISTINCT start_ns) AS buckets, MIN(start_ns) AS first_ns
    FROM timeline GROUP BY process_id, level)
  WHERE buckets <= $buckets GROUP BY process_id
)
SELECT process_id, (timeline.start_ns - first_ns) // bucket_ns AS bucket,
  timeline.start_ns - (SELECT MIN(start_ns) FROM run) AS start_ns, bucket_ns,
  IF(operation = '(not recorded)', operation, layer) AS layer,
  COALESCE(gpu_busy, FALSE) AS gpu_busy, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM timeline JOIN _level USING (process_id, level) JOIN _process USING (process_id)
GROUP BY ALL
ORDER BY ALL

-- The timeline by layer, at the finest level that has at most $buckets buckets, of the $processes
-- longest processes (those with operations first).
--   bucket    number of the bucket, from 0 at the process's first
--   start_ns  start of the bucket since the run began
--   layer     '(not recorded)' in the gaps between windows
-- uses: longest_process, timeline_bucket
SELECT process_id, (timeline_bucket.start_ns - first_ns) // bucket_ns AS bucket,
  timeline_bucket.start_ns - (SELECT MIN(start_ns) FROM run) AS start_ns, bucket_ns,
  IF(operation = '(not recorded)', operation, layer) AS layer,
  COALESCE(gpu_busy, FALSE) AS gpu_busy, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM timeline_bucket JOIN longest_process USING (process_id)
GROUP BY ALL
ORDER BY ALL

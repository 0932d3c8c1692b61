-- Share of each timeline bucket in which a process had GPU work, at the finest level that has at
-- most $buckets buckets. NVML's utilisation stands beside it.
--   start_ns  start of the bucket since the run began
-- uses: timeline_bucket
WITH _gpu AS (
  SELECT process_id FROM breakdown WHERE gpu_busy GROUP BY process_id
  ORDER BY SUM(duration_ns) DESC, process_id LIMIT $processes
)
SELECT process_id, name, timeline_bucket.start_ns - (SELECT MIN(start_ns) FROM run) AS start_ns,
  bucket_ns, CAST(COALESCE(SUM(duration_ns) FILTER (gpu_busy), 0) AS BIGINT) AS busy_ns
FROM timeline_bucket JOIN _gpu USING (process_id) JOIN process USING (process_id)
GROUP BY ALL
ORDER BY process_id, start_ns

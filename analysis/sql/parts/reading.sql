-- Readings over time: how busy each GPU was, by buckets, and samples of the machine and of its
-- processes. The reading of a bucket holds from its start; one of 0 follows where the next bucket had
-- no work.
WITH bucket AS (
  SELECT
    host_id,
    'GPU ' || gpu || ' busy_percent' AS metric,
    start_ns,
    start_ns + bucket_ns AS end_ns,
    100.0 * busy_ns / bucket_ns AS value,
    lead(start_ns) OVER (PARTITION BY host_id, gpu ORDER BY start_ns) AS next_ns
  FROM gpu_timeline
)
SELECT host_id, NULL AS process_id, metric, start_ns, value FROM bucket
UNION ALL
SELECT host_id, NULL, metric, end_ns, 0 FROM bucket WHERE next_ns IS DISTINCT FROM end_ns
UNION ALL
SELECT host_id, process_id, metric, start_ns, value
FROM machine_sample
WHERE regexp_matches(metric, '_(percent|bytes|watts)$') AND isfinite(value)

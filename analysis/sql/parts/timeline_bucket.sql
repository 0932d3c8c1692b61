-- The timeline of each process at its finest level that has at most $buckets buckets.
--   first_ns  start of its first bucket
WITH _level AS (
  SELECT process_id, MIN(level) AS level, ARG_MIN(first_ns, level) AS first_ns FROM (
    SELECT process_id, level, COUNT(DISTINCT start_ns) AS buckets, MIN(start_ns) AS first_ns
    FROM timeline GROUP BY process_id, level)
  WHERE buckets <= $buckets GROUP BY process_id
)
FROM timeline JOIN _level USING (process_id, level)

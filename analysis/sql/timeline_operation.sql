-- The timeline by operation: the $operations with the most time of each process, the others as
-- '(other operations)'. Buckets and processes as in timeline_layer.
--   operation     in no operation: '(start-up)', '(between operations)' and '(end)', by where the middle of the
--                 bucket lies; '(none)' in a process without a training loop
--   operation_ns  time of the operation over the whole timeline of the process
-- uses: longest_process, loop_bound, timeline_bucket
WITH _time AS (
  SELECT process_id, (start_ns - first_ns) // bucket_ns AS bucket, bucket_ns,
    CASE WHEN operation <> '(none)' OR from_ns IS NULL THEN operation
      WHEN start_ns + bucket_ns // 2 < from_ns THEN '(start-up)'
      WHEN start_ns + bucket_ns // 2 >= until_ns THEN '(end)'
      ELSE '(between operations)' END AS operation,
    SUM(duration_ns) AS duration_ns
  FROM timeline_bucket JOIN longest_process USING (process_id) LEFT JOIN loop_bound USING (process_id)
  WHERE operation <> '(not recorded)'
  GROUP BY ALL
), _rank AS (
  SELECT process_id, operation,
    ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY SUM(duration_ns) DESC, operation) AS rank
  FROM _time GROUP BY process_id, operation
), _folded AS (
  SELECT process_id, bucket, bucket_ns,
    CASE WHEN rank <= $operations THEN operation ELSE '(other operations)' END AS operation,
    SUM(duration_ns) AS duration_ns
  FROM _time JOIN _rank USING (process_id, operation)
  GROUP BY ALL
)
SELECT process_id, bucket, bucket_ns, operation, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY process_id, operation) AS BIGINT) AS operation_ns
FROM _folded
ORDER BY process_id, operation_ns DESC, operation, bucket

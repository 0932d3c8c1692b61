-- Operations of which one instance took more than $share of the own time of at least $least: a
-- function was compiled, or an algorithm searched, the first time. The longest comes first.
--   count       instances
--   whole_ns    their own time
--   longest_ns  own time of the longest; it began at start_ns, and lasted duration_ns
--   usual_ns    median of their own times
WITH _operation AS (
  SELECT process_id, thread_id, operation_id, COUNT(*) AS count, SUM(self_ns) AS whole_ns,
    MAX(self_ns) AS longest_ns, ARG_MAX(start_ns, (self_ns, -start_ns)) AS start_ns,
    ARG_MAX(duration_ns, (self_ns, -start_ns)) AS duration_ns, MEDIAN(self_ns) AS usual_ns
  FROM operation_instance GROUP BY process_id, thread_id, operation_id
)
SELECT process_id, thread_id, path AS operation, source, count,
  CAST(whole_ns AS BIGINT) AS whole_ns, longest_ns, CAST(ROUND(usual_ns) AS BIGINT) AS usual_ns,
  start_ns, duration_ns
FROM _operation JOIN operation USING (operation_id)
WHERE count >= $least AND longest_ns > $share * whole_ns
ORDER BY longest_ns DESC, process_id, thread_id, operation
LIMIT $rows

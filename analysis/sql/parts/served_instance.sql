-- Instances of the operations in which a process waits for environment workers: of a process the first
-- ones, 400,000 divided by the number of workers, so that memory is bounded.
--   from_ns  where records of the process or a worker were rolled up: from when on all are there; only
--            instances from then on count
-- uses: serving_worker, kept_from
WITH _from AS (
  SELECT process_id, MAX(from_ns) AS from_ns
  FROM (SELECT process_id, UNNEST([process_id, worker_id]) AS member_id FROM serving_worker)
    JOIN (SELECT process_id AS member_id, from_ns FROM kept_from) USING (member_id)
  GROUP BY ALL
)
SELECT process_id, path AS operation, start_ns, start_ns + duration_ns AS end_ns, from_ns
FROM operation_instance JOIN operation USING (operation_id) LEFT JOIN _from USING (process_id)
WHERE duration_ns > 0 AND (process_id, path) IN (SELECT (process_id, operation) FROM serving_worker)
  AND (from_ns IS NULL OR start_ns >= from_ns)
QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY start_ns)
  <= 400000 // (SELECT COUNT(DISTINCT worker_id) FROM serving_worker)

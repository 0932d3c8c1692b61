-- Instances of the operations in which a process waits for environment workers: of a process the first
-- ones, 400,000 divided by the number of workers, so that memory is bounded.
-- uses: serving_worker
SELECT process_id, path AS operation, iteration, start_ns, start_ns + duration_ns AS end_ns
FROM operation_instance JOIN operation USING (operation_id)
WHERE duration_ns > 0 AND (process_id, path) IN (SELECT (process_id, operation) FROM serving_worker)
QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY start_ns)
  <= 400000 // (SELECT COUNT(DISTINCT worker_id) FROM serving_worker)

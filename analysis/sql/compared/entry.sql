-- How often each operation of a process ($process_id) was entered in a complete iteration.
--   per_iteration  entries, divided by complete iterations that single records are there of
-- uses: own_iteration, kept_from
WITH _complete AS (
  SELECT process_id, iteration, COUNT(*) OVER () AS iterations
  FROM own_iteration LEFT JOIN kept_from USING (process_id)
  WHERE process_id = $process_id AND (from_ns IS NULL OR start_ns >= from_ns)
)
SELECT path AS operation, COUNT(*) / ANY_VALUE(iterations) AS per_iteration
FROM operation_instance JOIN _complete USING (process_id, iteration) JOIN operation USING (operation_id)
GROUP BY path ORDER BY path

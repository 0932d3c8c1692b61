-- Lines of the program's own in which the training loop of a process ($process_id) spends most itself,
-- with library functions that it calls.
--   $operations  of these paths; none: of all
--   own_ns       with below_ns2 and above_ns2, the squared distances to the ends of its interval
--   operation_ns, entries  of the operation
WITH _entry AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
), _state AS (
  SELECT operation, SUM(duration_ns) FILTER (layer = 'python') AS operation_ns FROM breakdown
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') GROUP BY operation
)
SELECT file, line, operation, CAST(SUM(own_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(own_ns - own_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(own_high_ns - own_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(SUM(readings) AS BIGINT) AS readings, CAST(ANY_VALUE(operation_ns) AS BIGINT) AS python_ns,
  COALESCE(ANY_VALUE(entries), 0) AS entries
FROM source_line JOIN _state USING (operation) LEFT JOIN _entry USING (operation)
WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND is_own AND line IS NOT NULL
  AND layer IN ('python', 'framework')
  AND (operation IN (SELECT UNNEST($operations)) OR LEN($operations) = 0)
GROUP BY file, line, operation
HAVING SUM(own_ns) > 0
ORDER BY SUM(own_ns) DESC, file, line, operation

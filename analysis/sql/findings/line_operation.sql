-- The operations in which lines of a file ($file) are on the stack in the training loop of a process
-- ($process_id), and how long. A comprehension is a function of its own inside of the one around it.
SELECT line, operation, CAST(MAX(total_ns) AS DOUBLE) AS total_ns
FROM (
  SELECT line, operation, function, SUM(total_ns) AS total_ns FROM source_line
  WHERE process_id = $process_id AND file = $file AND line IS NOT NULL AND stage IN ('loop', 'whole')
    AND layer <> 'gpu'
  GROUP BY line, operation, function)
GROUP BY line, operation HAVING MAX(total_ns) > 0
ORDER BY line, operation

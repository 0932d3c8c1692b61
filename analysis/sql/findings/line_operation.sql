-- The operations in which lines of a file ($file) are on the stack in the training loop of a process
-- ($process_id).
SELECT DISTINCT line, operation FROM source_line
WHERE process_id = $process_id AND file = $file AND line IS NOT NULL AND stage IN ('loop', 'whole')
  AND total_ns > 0 AND layer <> 'gpu'
ORDER BY line, operation

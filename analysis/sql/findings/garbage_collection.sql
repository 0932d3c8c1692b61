-- Garbage collections in the training loop of a process ($process_id), by operation.
SELECT operation, CAST(SUM(duration_ns) AS BIGINT) AS collecting_ns FROM idle
WHERE process_id = $process_id AND stage = 'loop' AND reason = 'collection'
GROUP BY operation ORDER BY collecting_ns DESC, operation

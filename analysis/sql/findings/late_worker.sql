-- How long an environment worker ($process_id) works and waits in its steps ($operation).
SELECT process.name, operation, layer, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM breakdown JOIN process USING (process_id)
WHERE process_id = $process_id AND operation = $operation
GROUP BY ALL ORDER BY duration_ns DESC

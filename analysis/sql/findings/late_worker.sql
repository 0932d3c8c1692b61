-- How long an environment worker ($process_id) works and waits, by operation.
SELECT process.name, operation, layer, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM breakdown JOIN process USING (process_id)
WHERE process_id = $process_id
GROUP BY ALL ORDER BY duration_ns DESC

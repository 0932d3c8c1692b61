-- Where the training loop of a process ($process_id) is, by operation and layer.
SELECT operation, layer, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM training_loop WHERE process_id = $process_id AND stage = 'loop'
GROUP BY operation, layer ORDER BY duration_ns DESC, operation, layer

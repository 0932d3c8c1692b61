-- Crossings between layers in a complete iteration of the process $process.
--   per_iteration  NULL where the process has no complete iteration
SELECT operation, from_layer, to_layer, SUM(per_iteration) AS per_iteration
FROM transition
WHERE process_id = $process
GROUP BY operation, from_layer, to_layer
ORDER BY per_iteration DESC NULLS LAST, operation, from_layer, to_layer

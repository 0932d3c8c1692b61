SELECT iteration, complete, operation, layer, duration_ns
FROM iteration_breakdown ORDER BY iteration NULLS FIRST, operation, layer

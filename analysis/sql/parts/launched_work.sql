-- Kernels, and whole graphs beside them, as the rows of the relations have them.
SELECT process_id, operation, "function", "count", launch_bound, duration_ns, min_ns, max_ns
FROM kernel
UNION ALL
SELECT process_id, operation, 'graph ' || graph, "count", launch_bound, duration_ns, min_ns, max_ns
FROM graph

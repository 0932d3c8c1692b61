-- Time of each process by stack, stage, operation and layer.
--   stack_id  NULL: the stack is not known
SELECT process_id, stack_id, stage, operation, layer, CAST(SUM(self_ns) AS BIGINT) AS self_ns
FROM stack_time
GROUP BY ALL
HAVING SUM(self_ns) > 0
ORDER BY process_id, stack_id NULLS FIRST, stage, operation, layer

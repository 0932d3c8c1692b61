-- Time of the frames of a flame graph by operation and layer, without what other frames of it have. The
-- sum is all time of the training loops. Rows of layer gpu have GPU time: the sum is that of the work
-- whose launches were recorded with their stacks, and of other work of the same processes.
--   frame     flame_frame.frame; NULL: no stack is known, or all its calls are too small for a frame
--   is_known  whether the stack is known
--   is_small  whether the time is that of calls of the frame that are too small for one of their own
-- uses: loop_stack, stack_caller, stack_frame, large_frame
WITH _nearest AS (
  SELECT stack_caller.process_id, stack_caller.stack_id, MAX_BY(frame, large_frame.depth) AS frame,
    BOOL_OR(caller_id = stack_caller.stack_id) AS is_large
  FROM stack_caller JOIN stack_frame
      ON stack_frame.process_id = stack_caller.process_id AND stack_frame.stack_id = caller_id
    JOIN large_frame USING (path)
  GROUP BY ALL
)
SELECT frame, stack_id IS NOT NULL AS is_known,
  stack_id IS NOT NULL AND NOT COALESCE(is_large, FALSE) AS is_small, operation, layer,
  CAST(SUM(self_ns) AS BIGINT) AS self_ns, CAST(SUM(gpu_ns) AS BIGINT) AS gpu_ns
FROM loop_stack LEFT JOIN _nearest USING (process_id, stack_id)
GROUP BY ALL
HAVING SUM(self_ns) > 0 OR SUM(gpu_ns) > 0
ORDER BY frame NULLS FIRST, is_known, is_small, self_ns DESC, gpu_ns DESC, operation, layer

-- Frames of a flame graph with at least $least_share of the time, or of the GPU time, of the training
-- loops, at most $frames. A frame comes after its caller.
-- uses: loop_stack, stack_caller, stack_frame
WITH _total AS (
  SELECT path, ANY_VALUE(caller) AS caller, ANY_VALUE(depth) AS depth,
    ANY_VALUE(function) AS function, ANY_VALUE(file) AS file, ANY_VALUE(line) AS line,
    ANY_VALUE(is_own) AS is_own, SUM(self_ns) AS total_ns, SUM(gpu_ns) AS gpu_ns
  FROM loop_stack JOIN stack_caller USING (process_id, stack_id) JOIN stack_frame
    ON stack_frame.process_id = loop_stack.process_id AND stack_frame.stack_id = caller_id
  GROUP BY path
), _whole AS (
  SELECT SUM(self_ns) AS self_ns, SUM(gpu_ns) AS gpu_ns FROM loop_stack
), _share AS (
  SELECT _total.*, GREATEST(COALESCE(total_ns / NULLIF(_whole.self_ns, 0), 0),
    COALESCE(_total.gpu_ns / NULLIF(_whole.gpu_ns, 0), 0)) AS share
  FROM _total, _whole
), _large AS (
  SELECT * FROM _share
  WHERE share > 0 AND share >= $least_share
  ORDER BY share DESC, depth, path LIMIT $frames
)
SELECT * EXCLUDE (share),
  ROW_NUMBER() OVER (ORDER BY depth, total_ns DESC, gpu_ns DESC, file, line, function, path) AS frame
FROM _large

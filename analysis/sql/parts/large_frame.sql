-- Frames of a flame graph with at least $least_share of the time of the training loops, at most
-- $frames. A frame comes after its caller.
-- uses: loop_stack, stack_caller, stack_frame
WITH _total AS (
  SELECT path, ANY_VALUE(caller) AS caller, ANY_VALUE(depth) AS depth,
    ANY_VALUE(function) AS function, ANY_VALUE(file) AS file, ANY_VALUE(line) AS line,
    ANY_VALUE(is_own) AS is_own, SUM(self_ns) AS total_ns
  FROM loop_stack JOIN stack_caller USING (process_id, stack_id) JOIN stack_frame
    ON stack_frame.process_id = loop_stack.process_id AND stack_frame.stack_id = caller_id
  GROUP BY path
), _large AS (
  SELECT * FROM _total
  WHERE total_ns > 0 AND total_ns >= $least_share * (SELECT SUM(self_ns) FROM loop_stack)
  ORDER BY total_ns DESC, depth, path LIMIT $frames
)
SELECT *, ROW_NUMBER() OVER (ORDER BY depth, total_ns DESC, file, line, function, path) AS frame
FROM _large

-- Frames of a flame graph of the training loops: calls with at least $least_share of their time, or of
-- their GPU time, at most $frames. A frame comes after its caller.
--   frame     its number, from 1 on; caller_frame: that of the frame that called it, NULL: nobody
--   total_ns  time of the frame with all that it called: an estimate
--   gpu_ns    GPU time of what the frame, and all that it called, launched: exact
-- uses: large_frame
SELECT large_frame.frame, called_by.frame AS caller_frame, large_frame.function, large_frame.file,
  large_frame.line, large_frame.is_own, CAST(large_frame.total_ns AS BIGINT) AS total_ns,
  CAST(large_frame.gpu_ns AS BIGINT) AS gpu_ns
FROM large_frame LEFT JOIN large_frame AS called_by ON called_by.path = large_frame.caller
ORDER BY frame

-- The hottest lines of the program's own code in the training loops of the processes that count.
--   function  the function that spends most time in the line
--   text      as it was when the program ran; NULL: not kept
--   own_ns    time in which the line was the innermost one of the program's own code: an estimate
--             with the ends of its 95 % interval
--   own_corrected_ns  own_ns without what recording cost; NULL: no cost is known
--   total_ns  time in which the line was on the stack
--   wait_ns   the part of own_ns in layer wait
--   gpu_ns    GPU time of what the line launched: exact
--   backward_ns  time of PyTorch's backward in what the line made, an estimate; 0: none is known
--   loop_ns   all time of these loops
-- uses: listed_line
WITH _function AS (
  SELECT file, line, ARG_MAX(function, total_ns) AS function FROM source_line GROUP BY ALL
)
SELECT file, line, function, text, CAST(own_ns AS BIGINT) AS own_ns,
  CAST(own_low_ns AS BIGINT) AS own_low_ns, CAST(own_high_ns AS BIGINT) AS own_high_ns,
  CAST(own_corrected_ns AS BIGINT) AS own_corrected_ns,
  CAST(total_ns AS BIGINT) AS total_ns, CAST(wait_ns AS BIGINT) AS wait_ns,
  CAST(gpu_ns AS BIGINT) AS gpu_ns, CAST(backward_ns AS BIGINT) AS backward_ns,
  CAST(loop_ns AS BIGINT) AS loop_ns
FROM listed_line LEFT JOIN _function USING (file, line) LEFT JOIN source_text USING (file, line)
ORDER BY own_ns DESC, total_ns DESC, gpu_ns DESC, backward_ns DESC, file, line

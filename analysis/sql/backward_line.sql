-- Lines of the forward by the time that PyTorch's backward spent in what they made, in the training
-- loops of the processes that count.
--   text         as it was when the program ran; NULL: not kept
--   backward_ns  an estimate: the line's share of the watched backwards, of the time of the line
--                that ran them
--   loop_ns      all time of these loops
--   backwards    backwards that the other line ran
--   watched      how many of them were watched
-- uses: counted_process
WITH _line AS (
  SELECT file, line, backward_file, backward_line, ARG_MAX(function, backward_ns) AS function,
    SUM(backward_ns) AS backward_ns, SUM(backwards) AS backwards, SUM(watched) AS watched
  FROM backward_line
  WHERE process_id IN (FROM counted_process) AND stage IN ('loop', 'whole')
  GROUP BY ALL
)
SELECT file, line, function, text, backward_file, backward_line,
  CAST(backward_ns AS BIGINT) AS backward_ns,
  (SELECT CAST(SUM(duration_ns) AS BIGINT) FROM training_loop) AS loop_ns,
  CAST(backwards AS BIGINT) AS backwards, CAST(watched AS BIGINT) AS watched
FROM _line LEFT JOIN source_text USING (file, line)
ORDER BY _line.backward_ns DESC, file, line, backward_file, backward_line
LIMIT $rows

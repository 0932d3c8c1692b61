-- The $rows lines in which the training loops spent most time themselves, those of libraries too.
--   self_ns  time in which the line was the innermost one
--   self_corrected_ns  self_ns without what recording cost; NULL: no cost is known
--   loop_ns  all time of these loops
-- uses: loop_stack
SELECT function, file, line, is_own, CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  CAST(SUM(self_corrected_ns) AS BIGINT) AS self_corrected_ns,
  CAST((SELECT SUM(duration_ns) FROM training_loop) AS BIGINT) AS loop_ns
FROM loop_stack JOIN stack USING (process_id, stack_id)
GROUP BY function, file, line, is_own
HAVING SUM(self_ns) > 0
ORDER BY self_ns DESC, file, line, function
LIMIT $rows

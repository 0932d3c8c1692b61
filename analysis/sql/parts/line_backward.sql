-- Time of PyTorch's backward in the training loops by the line of the forward that made it: an estimate.
-- It is part of the own time of the lines that ran the backwards.
-- uses: counted_process
SELECT file, line, SUM(backward_ns) AS backward_ns
FROM backward_line
WHERE process_id IN (FROM counted_process) AND stage IN ('loop', 'whole')
GROUP BY ALL
HAVING SUM(backward_ns) > 0

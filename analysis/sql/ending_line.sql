-- The program's own lines after the training loops of the processes that count in shares, outside of
-- operations: where the most time was.
--   own_ns  an estimate: the line was the innermost one of the program's own code
-- uses: counted_process
SELECT file, line, CAST(SUM(own_ns) AS BIGINT) AS own_ns FROM source_line
WHERE stage = 'end' AND operation = '(none)' AND is_own AND process_id IN (FROM counted_process)
GROUP BY file, line HAVING SUM(own_ns) > 0
ORDER BY own_ns DESC, file, line
LIMIT $rows

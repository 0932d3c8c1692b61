-- The program's own lines in which the training loop of a process ($process_id) waits, the longest first.
SELECT file, line, CAST(SUM(own_ns) AS DOUBLE) AS own_ns FROM source_line
WHERE process_id = $process_id AND stage = 'loop' AND is_own AND line IS NOT NULL AND layer = 'wait'
GROUP BY file, line HAVING SUM(own_ns) > 0 ORDER BY own_ns DESC, file, line

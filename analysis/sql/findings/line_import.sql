-- What a process ($process_id) imports from a line ($asked_by: file:line): total_ns, NULL for nothing.
SELECT CAST(SUM(total_ns) AS BIGINT) AS total_ns FROM import
WHERE process_id = $process_id AND asked_by = $asked_by

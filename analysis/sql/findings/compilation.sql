-- Functions that a process ($process_id) compiled, by line, the longest first; late_count: how often
-- after its first update.
SELECT compiler, function, file, line, total_ns, count - COALESCE(early_count, 0) AS late_count
FROM compilation WHERE process_id = $process_id AND count > 0
ORDER BY total_ns DESC, file, line, function

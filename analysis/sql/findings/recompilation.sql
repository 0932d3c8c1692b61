-- Functions that a process ($process_id) compiled, by line, the longest first.
SELECT compiler, function, file, line, count, total_ns FROM compilation
WHERE process_id = $process_id AND count > 0
ORDER BY total_ns DESC, file, line, function

-- Functions that a process ($process_id) compiled after its first update, by line, the longest
-- first. The first time that it compiles one is not again.
SELECT compiler, function, file, line, count, count - early_count AS late_count,
  (total_ns - early_ns)
    * (1 - CASE WHEN early_count = 0 THEN 1.0 / count ELSE 0 END) AS again_ns,
  total_ns
FROM compilation
WHERE process_id = $process_id AND count > early_count
ORDER BY again_ns DESC, file, line, function

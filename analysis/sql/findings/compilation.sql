-- What each library compiled in a process ($process_id), with the line that asked for the longest.
SELECT compiler, COUNT(*) AS functions, CAST(SUM(total_ns) AS BIGINT) AS total_ns,
  ARG_MAX("function", total_ns) AS longest, MAX(total_ns) AS longest_ns,
  ARG_MAX(file, total_ns) AS file, ARG_MAX(line, total_ns) AS line
FROM compilation WHERE process_id = $process_id AND count > 0
GROUP BY compiler ORDER BY total_ns DESC

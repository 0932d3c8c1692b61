-- The times of the $lines hottest lines by operation and layer; columns as those of hot_line.
-- uses: line_time, listed_line
SELECT file, line, operation, layer, CAST(line_time.own_ns AS BIGINT) AS own_ns,
  CAST(line_time.total_ns AS BIGINT) AS total_ns
FROM line_time JOIN listed_line USING (file, line)
ORDER BY file, line, total_ns DESC, operation, layer

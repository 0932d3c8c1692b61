-- The text of the lines $first to $last of a file ($file) of the program, and their time in the training
-- loops of the processes that count; NULL: none was found there. Times as in hot_line.
-- uses: line_time, line_gpu
WITH _time AS (
  SELECT line, CAST(SUM(own_ns) AS BIGINT) AS own_ns, CAST(SUM(total_ns) AS BIGINT) AS total_ns,
    ARG_MAX(operation, total_ns) AS operation
  FROM line_time WHERE file = $file GROUP BY line
), _gpu AS (
  SELECT line, CAST(SUM(gpu_ns) AS BIGINT) AS gpu_ns FROM line_gpu WHERE file = $file GROUP BY line
)
SELECT line, text, operation, own_ns, total_ns, gpu_ns
FROM source_text LEFT JOIN _time USING (line) LEFT JOIN _gpu USING (line)
WHERE file = $file AND line BETWEEN $first AND $last
ORDER BY line

-- The files of the program whose text the trace holds, by the time spent in their lines.
--   lines  how many the file has
WITH _file AS (
  SELECT file, MAX(line) AS lines FROM source_text GROUP BY file
), _own AS (
  SELECT file, SUM(own_ns) AS own_ns FROM source_line WHERE is_own AND layer <> 'gpu' GROUP BY file
)
SELECT file, lines, CAST(COALESCE(own_ns, 0) AS BIGINT) AS own_ns
FROM _file LEFT JOIN _own USING (file) ORDER BY own_ns DESC, file

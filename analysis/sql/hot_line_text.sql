-- The text of the $lines hottest lines, and of $context lines before and after each.
--   lines  how many the file has
-- uses: listed_line
WITH _length AS (
  SELECT file, MAX(line) AS lines FROM source_text GROUP BY file
)
SELECT file, line, text, lines
FROM source_text JOIN _length USING (file)
WHERE EXISTS (FROM listed_line WHERE listed_line.file = source_text.file
  AND ABS(listed_line.line - source_text.line) <= $context)
ORDER BY file, line

-- The text of the program's own files, as the run kept it, in the order of the lines.
--   line  from 1 on
SELECT file, line, text FROM source_text ORDER BY file, line

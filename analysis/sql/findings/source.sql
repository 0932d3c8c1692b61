-- The text of a file of the program ($file), by line.
SELECT line, text FROM source_text WHERE file = $file ORDER BY line

-- The text of a line ($file, $line) and of $context lines before and after it, where it was kept.
SELECT line, text FROM source_text
WHERE file = $file AND line BETWEEN $line - $context AND $line + $context ORDER BY line

-- Metadata of the program, process by process; value is JSON.
SELECT process.name AS process, key, value
FROM metadata LEFT JOIN process USING (process_id)
ORDER BY process_id, key
LIMIT $rows

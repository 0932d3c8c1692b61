-- Metadata of the program, process by process; value is JSON. Keys that begin with "rlscope." are
-- the recorder's own notes: they have relations and sentences of their own.
SELECT process.name AS process, key, value
FROM metadata LEFT JOIN process USING (process_id)
WHERE NOT STARTS_WITH(key, 'rlscope.')
ORDER BY process_id, key
LIMIT $rows

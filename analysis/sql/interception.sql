-- How the native calls of each process were recorded, as the process itself reported (JSON).
SELECT process_id, process.name, value
FROM metadata JOIN process USING (process_id)
WHERE key = 'rlscope.interception'
ORDER BY process_id

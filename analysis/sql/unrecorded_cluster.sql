-- Processes that connected to a Ray cluster that ran already, without rlscope.integrations.ray.
SELECT process.name AS process
FROM metadata JOIN process USING (process_id)
WHERE key = 'rlscope.ray' AND value = '{"cluster": "not recorded"}'
ORDER BY process_id

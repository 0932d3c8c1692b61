-- process_id of the $processes longest processes, those with operations first.
-- uses: annotated_process
SELECT process_id FROM process
ORDER BY process_id IN (FROM annotated_process) DESC, end_ns - start_ns DESC, process_id
LIMIT $processes

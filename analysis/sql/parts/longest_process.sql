-- process_id of the $processes longest processes, those with a training loop first.
-- uses: looping_process
SELECT process_id FROM process
ORDER BY process_id IN (FROM looping_process) DESC, end_ns - start_ns DESC, process_id
LIMIT $processes

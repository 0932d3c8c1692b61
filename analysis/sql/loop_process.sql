-- The processes that have a training loop and count in shares, with their names.
-- uses: looping_process
SELECT process_id, name FROM process WHERE process_id IN (FROM looping_process) ORDER BY process_id

-- process_id of "all processes": those that have a training loop, and all when none has.
-- uses: looping_process
SELECT process_id FROM process
WHERE process_id IN (FROM looping_process) OR NOT EXISTS (FROM looping_process)

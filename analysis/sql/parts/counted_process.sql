-- process_id of "all processes": those that have operations, and all when none has.
-- uses: annotated_process
SELECT process_id FROM process
WHERE process_id IN (FROM annotated_process) OR NOT EXISTS (FROM annotated_process)

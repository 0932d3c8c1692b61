-- The processes that have a training loop and count in shares, with their names.
--   family  of those whose names differ in their number only
-- uses: looping_process, process_family
SELECT process_id, name, family FROM process JOIN process_family USING (process_id)
WHERE process_id IN (FROM looping_process) ORDER BY process_id

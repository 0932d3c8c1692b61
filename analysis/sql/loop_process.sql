-- The processes that have a training loop and count in shares, with their names.
--   is_own    it has the loop of $process_id
--   is_other  its name differs from that one's not only in a number: its loop does something else
-- uses: looping_process, process_family
SELECT process.process_id, process.name, process.process_id = $process_id AS is_own,
  family <> (SELECT family FROM process_family WHERE process_id = $process_id) AS is_other
FROM process JOIN process_family USING (process_id)
WHERE process_id IN (FROM looping_process) ORDER BY process_id

-- The processes that count in shares where none has a training loop, with their names.
--   is_own    it is $process_id
--   is_other  its name differs from that one's not only in a number: it does something else
-- uses: counted_process, process_family
SELECT process.process_id, process.name, process.process_id = $process_id AS is_own,
  family <> (SELECT family FROM process_family WHERE process_id = $process_id) AS is_other
FROM process JOIN process_family USING (process_id)
WHERE process_id IN (FROM counted_process) ORDER BY process_id

-- How often a process ($process_id) entered the automatic operation, of some ($operations), that it entered
-- most.
--   entries  NULL: none of them
WITH _entry AS (
  SELECT operation_id, COUNT(*) AS entries FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND source = 'automatic' AND path IN (SELECT UNNEST($operations))
  GROUP BY operation_id
)
SELECT MAX(entries) AS entries FROM _entry

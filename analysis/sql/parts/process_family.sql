-- Processes whose names differ in their number only are a family: "env worker 0", "env worker 1 (2)".
--   place     in the order of the names, "actor 2" before "actor 10"; it has the name, too
SELECT process_id, regexp_replace(name, '([ _-][0-9]+)?( \([0-9]+\))?$', '') AS family,
  {'length': LENGTH(name), 'name': name, 'process_id': process_id} AS place
FROM process

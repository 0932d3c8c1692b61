-- Processes whose names differ in their number only are a family: "env worker 0", "env worker 1 (2)".
--   place     in the order of the names, "actor 2" before "actor 10"
SELECT process_id, regexp_replace(name, '([ _-][0-9]+)?( \([0-9]+\))?$', '') AS family,
  (LENGTH(name), name, process_id) AS place
FROM process

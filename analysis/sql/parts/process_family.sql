-- Processes whose names differ in their number only are a family: "env worker 0", "env worker 1 (2)".
SELECT process_id, regexp_replace(name, '([ _-][0-9]+)?( \([0-9]+\))?$', '') AS family FROM process

-- How long a process ($process_id) imports, and the module that takes most of it with all that it
-- imports. One row, or none.
SELECT CAST((SELECT SUM(self_ns) FROM import WHERE process_id = $process_id) AS BIGINT) AS all_ns,
  module, total_ns, asked_by
FROM import
WHERE process_id = $process_id AND module IS NOT NULL AND imported_by IS NULL
ORDER BY total_ns DESC, module LIMIT 1

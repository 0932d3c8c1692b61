-- How long a process ($process_id) imports what its loop may do without, and the module that takes most of it.
-- Modules of a library whose native functions the process calls are not asked about: it needs them. One row, or
-- none.
-- uses: asked_import
WITH _called AS (
  SELECT DISTINCT REGEXP_EXTRACT(function, '^[^.:]+') AS library FROM native_call
  WHERE process_id = $process_id
)
SELECT CAST(SUM(asked_ns) OVER () AS BIGINT) AS all_ns, module, asked_ns, asked_by
FROM asked_import
WHERE process_id = $process_id AND SPLIT_PART(module, '.', 1) NOT IN (SELECT library FROM _called)
ORDER BY asked_ns DESC, module LIMIT 1

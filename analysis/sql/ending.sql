-- How the main process ended: one row.
--   exit       NULL: not on an exit path, or there is no such process
--   framework  whether a process called one, so that rlscope could see updates
--   exception, message, file, line  what nobody caught, and where; NULL: nothing, or it is not known
WITH _main AS (
  SELECT process_id, exit FROM process WHERE role = 'main' ORDER BY process_id LIMIT 1
)
SELECT exit, EXISTS (FROM breakdown WHERE layer = 'framework') AS framework,
  json_extract_string(value, '$.type') AS exception,
  json_extract_string(value, '$.message') AS message, json_extract_string(value, '$.file') AS file,
  TRY_CAST(json_extract_string(value, '$.line') AS BIGINT) AS line
FROM (SELECT 1) LEFT JOIN _main ON TRUE
  LEFT JOIN metadata ON metadata.process_id = _main.process_id AND key = 'rlscope.failure'
    AND json_valid(value)

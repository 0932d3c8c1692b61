-- What kept processes from recording all of CUDA, where something was: at most $rows sentences of
-- theirs (keys `cuda` and `cuda_times` of the metadata).
WITH _note AS (
  SELECT IF(json_valid(value), json_extract_string(value, '$.problem'), NULL) AS problem
  FROM metadata WHERE key IN ('cuda', 'cuda_times')
)
SELECT DISTINCT problem FROM _note
WHERE problem IS NOT NULL
  AND (EXISTS (SELECT 1 FROM api_call) OR EXISTS (SELECT 1 FROM gpu_time))
ORDER BY problem
LIMIT $rows

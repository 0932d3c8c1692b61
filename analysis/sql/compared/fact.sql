-- What a run was made with, a row for each fact that may explain a difference.
--   kind   of it, in the order in which a reader wants them
--   value  several of one kind are joined
WITH _note AS (
  SELECT UNNEST(from_json(value, '[["VARCHAR"]]')) AS pair
  FROM metadata WHERE key = 'rlscope.releases' AND json_valid(value)
), _release AS (
  SELECT pair[1] AS name, pair[2] AS release FROM _note WHERE LEN(pair) = 2
)
SELECT kind, value FROM (
  SELECT 1 AS place, 'program' AS kind, command AS value FROM run
  UNION ALL SELECT 2, 'imported from', imported FROM run
  UNION ALL SELECT 3, 'rlscope', version FROM run
  UNION ALL SELECT 4, 'Python', STRING_AGG(DISTINCT python, ', ' ORDER BY python) FROM process
  UNION ALL SELECT 5, 'release of ' || name, STRING_AGG(DISTINCT release, ', ' ORDER BY release)
    FROM _release GROUP BY name
  UNION ALL SELECT 6, 'machine', STRING_AGG(DISTINCT name, ', ' ORDER BY name) FROM host
  UNION ALL SELECT 7, 'CPU', STRING_AGG(DISTINCT cpu, ', ' ORDER BY cpu) FROM host
  UNION ALL SELECT 8, 'cores', STRING_AGG(DISTINCT cores, ', ' ORDER BY cores) FROM host
  UNION ALL SELECT 9, 'GPUs', STRING_AGG(DISTINCT gpu, ', ' ORDER BY gpu) FROM gpu_device
  UNION ALL SELECT 10, 'processes', CAST(COUNT(*) AS TEXT) FROM process WHERE events > 0
)
WHERE value IS NOT NULL ORDER BY place, kind

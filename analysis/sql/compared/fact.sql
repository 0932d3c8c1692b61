-- What a run was made with, a row for each fact that may explain a difference.
--   kind   of it, in the order in which a reader wants them
--   value  several of one kind are joined
SELECT kind, value FROM (
  SELECT 1 AS place, 'program' AS kind, command AS value FROM run
  UNION ALL SELECT 2, 'imported from', imported FROM run
  UNION ALL SELECT 3, 'rlscope', version FROM run
  UNION ALL SELECT 4, 'Python', STRING_AGG(DISTINCT python, ', ' ORDER BY python) FROM process
  UNION ALL SELECT 5, 'machine', STRING_AGG(DISTINCT name, ', ' ORDER BY name) FROM host
  UNION ALL SELECT 6, 'CPU', STRING_AGG(DISTINCT cpu, ', ' ORDER BY cpu) FROM host
  UNION ALL SELECT 7, 'cores', STRING_AGG(DISTINCT cores, ', ' ORDER BY cores) FROM host
  UNION ALL SELECT 8, 'GPUs', STRING_AGG(DISTINCT gpu, ', ' ORDER BY gpu) FROM gpu_device
  UNION ALL SELECT 9, 'processes', CAST(COUNT(*) AS TEXT) FROM process WHERE events > 0
)
WHERE value IS NOT NULL ORDER BY place

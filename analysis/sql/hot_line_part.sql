-- The times of the $lines hottest lines by operation and layer; columns as those of hot_line. Their GPU
-- time is in layer cuda_api.
-- uses: line_time, line_gpu, listed_line
WITH _part AS (
  SELECT file, line, operation, layer, own_ns, total_ns, 0 AS gpu_ns FROM line_time
  UNION ALL
  SELECT file, line, operation, 'cuda_api', 0, 0, gpu_ns FROM line_gpu
)
SELECT file, line, operation, layer, CAST(SUM(_part.own_ns) AS BIGINT) AS own_ns,
  CAST(SUM(_part.total_ns) AS BIGINT) AS total_ns, CAST(SUM(_part.gpu_ns) AS BIGINT) AS gpu_ns
FROM _part JOIN listed_line USING (file, line)
GROUP BY ALL
HAVING SUM(_part.total_ns) > 0 OR SUM(_part.gpu_ns) > 0
ORDER BY file, line, total_ns DESC, operation, layer

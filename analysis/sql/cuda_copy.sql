-- Copies by direction and kind of the host's memory, and memsets, over all processes and streams.
--   duration_ns  sum over copies
WITH _copy AS (
  SELECT direction, memory, "count", bytes, duration_ns FROM memcpy
  UNION ALL SELECT 'memset', memory, "count", bytes, duration_ns FROM memset
)
SELECT direction, memory, CAST(SUM("count") AS BIGINT) AS copies, CAST(SUM(bytes) AS BIGINT) AS bytes,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM _copy
GROUP BY direction, memory
ORDER BY duration_ns DESC, direction, memory

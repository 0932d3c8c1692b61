-- Waits for the GPU: synchronising calls by operation and kind, over all processes: $rows rows,
-- the longest first, the others in one row of which both are NULL.
--   waiting_ns  the part of duration_ns in which the GPU did the work that was waited for
WITH _sync AS (
  SELECT operation, kind, SUM("count") AS calls, SUM(duration_ns) AS duration_ns,
    SUM(waiting_ns) AS waiting_ns
  FROM sync GROUP BY operation, kind
), _ranked AS (
  SELECT *, ROW_NUMBER() OVER (ORDER BY duration_ns DESC, operation, kind) AS place FROM _sync
)
SELECT IF(place <= $rows, operation, NULL) AS operation, IF(place <= $rows, kind, NULL) AS kind,
  CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(SUM(waiting_ns) AS BIGINT) AS waiting_ns
FROM _ranked
GROUP BY LEAST(place, $rows + 1), 1, 2
ORDER BY LEAST(place, $rows + 1)

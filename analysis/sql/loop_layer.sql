-- Wall time in the training loops by operation and layer, the $rows largest first.
--   share  of all time of these loops
SELECT operation, layer, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  SUM(duration_ns) / SUM(SUM(duration_ns)) OVER () AS share
FROM training_loop GROUP BY operation, layer
ORDER BY duration_ns DESC, operation, layer LIMIT $rows

-- GPU time of each operation on each GPU of the machine, seen from both ends of a launch (relation gpu_time),
-- over all processes: the $operations with the most of it, the others "(other operations)".
WITH _ranked AS (
  SELECT operation, ROW_NUMBER() OVER (
    ORDER BY GREATEST(SUM(launched_ns), SUM(while_ns)) DESC, operation) AS place
  FROM gpu_time GROUP BY operation
)
SELECT IF(place <= $operations, operation, '(other operations)') AS operation, gpu,
  CAST(SUM(while_ns) AS BIGINT) AS while_ns, CAST(SUM(launched_ns) AS BIGINT) AS launched_ns
FROM gpu_time JOIN _ranked USING (operation)
GROUP BY LEAST(place, $operations + 1), 1, gpu
ORDER BY LEAST(place, $operations + 1), gpu

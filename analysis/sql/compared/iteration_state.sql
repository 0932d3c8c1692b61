-- Where the complete iterations of a process ($process_id) go, in order, in at most $points groups of
-- neighbours: an iteration's time by operation and layer, the mean of the group.
--   point       of the group, from 0 on; iterations  how many it has
--   operation   (none): between operations
-- uses: own_iteration
WITH _placed AS (
  SELECT iteration, source, ROW_NUMBER() OVER (ORDER BY iteration) - 1 AS place,
    COUNT(*) OVER () AS whole
  FROM own_iteration WHERE process_id = $process_id
), _grouped AS (
  SELECT iteration, source, place // ((whole + $points - 1) // $points) AS point FROM _placed
), _size AS (
  SELECT point, COUNT(*) AS iterations FROM _grouped GROUP BY point
)
SELECT point, iterations, operation, layer, SUM(duration_ns) / iterations AS mean_ns
FROM _grouped JOIN iteration_breakdown AS state
  ON state.process_id = $process_id AND state.iteration = _grouped.iteration
    AND state.iteration_source IS NOT DISTINCT FROM _grouped.source
  JOIN _size USING (point)
GROUP BY point, iterations, operation, layer
ORDER BY point, operation, layer

-- What an iteration of a process pays for an operation, and how much iterations differ: one row.
--   $process_id  of the process; $operation: a path, '(none)' between operations, NULL: all
--   $layers      of these layers; none: of all
--   iterations   complete ones that are usual: at most five times as long as the median
--   mean_ns      time of one of them in these states
--   deviation_ns by how much they differ (standard deviation)
--   unusual      iterations that are longer
-- uses: own_iteration
WITH _length AS (
  SELECT iteration, source, duration_ns > 5 * MEDIAN(duration_ns) OVER () AS is_unusual
  FROM own_iteration WHERE process_id = $process_id
), _time AS (
  SELECT iteration, SUM(duration_ns) AS time_ns
  FROM iteration_breakdown
  WHERE process_id = $process_id AND (operation = $operation OR $operation IS NULL)
    AND (layer IN (SELECT UNNEST($layers)) OR LEN($layers) = 0)
    AND iteration_source IS NOT DISTINCT FROM (SELECT ANY_VALUE(source) FROM _length)
  GROUP BY iteration
)
SELECT COUNT(*) FILTER (NOT is_unusual) AS iterations,
  CAST(AVG(COALESCE(time_ns, 0)) FILTER (NOT is_unusual) AS DOUBLE) AS mean_ns,
  CAST(COALESCE(STDDEV_SAMP(COALESCE(time_ns, 0)) FILTER (NOT is_unusual), 0) AS DOUBLE)
    AS deviation_ns,
  COUNT(*) FILTER (is_unusual) AS unusual
FROM _length LEFT JOIN _time USING (iteration)

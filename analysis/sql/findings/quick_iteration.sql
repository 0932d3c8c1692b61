-- How long a process ($process_id) is in calls of frameworks in iterations that do the same: their numbers of
-- entries into operations are at most 5 % off the median. One row.
--   iterations  of these
--   mean_ns     in one of them
--   quick_ns    one in fifty takes no longer
-- uses: own_iteration
WITH _entries AS (
  SELECT iteration, COUNT(*) AS entries FROM operation_instance
  WHERE process_id = $process_id AND iteration IS NOT NULL GROUP BY iteration
), _time AS (
  SELECT iteration, iteration_source, SUM(duration_ns) AS time_ns FROM iteration_breakdown
  WHERE process_id = $process_id AND layer = 'framework' GROUP BY iteration, iteration_source
), _iteration AS (
  SELECT COALESCE(time_ns, 0) AS time_ns, COALESCE(entries, 0) AS entries,
    MEDIAN(COALESCE(entries, 0)) OVER () AS usual
  FROM own_iteration LEFT JOIN _entries USING (iteration)
    LEFT JOIN _time ON _time.iteration = own_iteration.iteration AND iteration_source = source
  WHERE process_id = $process_id
)
SELECT COUNT(*) AS iterations, CAST(COALESCE(AVG(time_ns), 0) AS DOUBLE) AS mean_ns,
  CAST(COALESCE(QUANTILE_CONT(time_ns, 0.02), 0) AS DOUBLE) AS quick_ns
FROM _iteration WHERE ABS(entries - usual) <= 0.05 * usual

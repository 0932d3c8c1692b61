-- Which process was critical in the complete iterations of processes that wait for environment workers.
-- While workers step, the time of an iteration belongs to the one that ends last; the rest of it belongs
-- to the process that has the iteration. The process to which most belongs is critical. Of very long
-- runs the first iterations are looked at (parts/served_instance.sql).
--   process, critical    names
--   iterations, of       how many of the iterations it was critical in, and how many there are
--   rolled_up            whether there were iterations before, of which only the sums were kept
--   critical_ns          time of all iterations that belongs to it
-- uses: own_iteration, served_instance, worker_part
WITH _instance AS (
  SELECT process_id, iteration, ARG_MAX(worker_id, (end_ns, -worker_id)) AS worker_id,
    SUM(GREATEST(end_ns - new_ns, 0)) AS stepped_ns
  FROM worker_part GROUP BY process_id, operation, served_ns, iteration
), _iteration AS (
  SELECT process_id, iteration, duration_ns, from_ns FROM own_iteration
    JOIN (SELECT process_id, MAX(iteration) AS last, ANY_VALUE(from_ns) AS from_ns
      FROM served_instance GROUP BY ALL)
    USING (process_id)
  WHERE iteration <= last AND (from_ns IS NULL OR start_ns >= from_ns)
), _belongs AS (
  SELECT process_id, iteration, worker_id AS critical_id, SUM(stepped_ns) AS time_ns
  FROM _instance JOIN _iteration USING (process_id, iteration) GROUP BY ALL
  UNION ALL
  SELECT process_id, iteration, process_id,
    ANY_VALUE(duration_ns) - COALESCE(SUM(stepped_ns), 0)
  FROM _iteration LEFT JOIN _instance USING (process_id, iteration) GROUP BY process_id, iteration
), _ranked AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY process_id, iteration
    ORDER BY time_ns DESC, critical_id) AS place
  FROM _belongs
)
SELECT process_id, process.name AS process, critical_id, critical.name AS critical,
  COUNT(*) FILTER (place = 1) AS iterations,
  (SELECT COUNT(*) FROM _iteration WHERE _iteration.process_id = _ranked.process_id) AS "of",
  (SELECT ANY_VALUE(from_ns) IS NOT NULL FROM _iteration
    WHERE _iteration.process_id = _ranked.process_id) AS rolled_up,
  CAST(SUM(time_ns) AS BIGINT) AS critical_ns
FROM _ranked JOIN process USING (process_id)
  JOIN process AS critical ON critical.process_id = critical_id
GROUP BY ALL
ORDER BY process_id, iterations DESC, critical_ns DESC, critical_id

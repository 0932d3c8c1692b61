-- To whom the time of each complete iteration belongs, of processes that wait for environment workers.
-- While workers step it belongs to the one that ends last, the rest to the process itself. In very long
-- runs, only the first iterations are looked at (served_instance.sql).
--   critical_id, time_ns  a process, and the part of duration_ns that belongs to it
--   place                 1: most of the iteration does
--   from_ns               where there were iterations before, of which only the sums were kept
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
)
SELECT process_id, iteration, duration_ns, from_ns, critical_id, time_ns,
  ROW_NUMBER() OVER (PARTITION BY process_id, iteration
    ORDER BY time_ns DESC, critical_id) AS place
FROM _belongs JOIN _iteration USING (process_id, iteration)

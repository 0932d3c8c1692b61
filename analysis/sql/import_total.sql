-- How long the processes of a role import, the role with the most time first.
--   name       of the process, where there is only one
--   wall_ns, cpu_ns  means over the processes
--   modules    mean number of modules
--   run_ns     length of the run
WITH _process AS (
  SELECT process_id, SUM(self_ns) AS wall_ns, SUM(cpu_ns) AS cpu_ns, SUM(modules) AS modules
  FROM import GROUP BY process_id
)
SELECT role, IF(COUNT(*) = 1, MIN(name), NULL) AS name, COUNT(*) AS processes,
  CAST(AVG(wall_ns) AS BIGINT) AS wall_ns, CAST(AVG(_process.cpu_ns) AS BIGINT) AS cpu_ns,
  CAST(AVG(modules) AS BIGINT) AS modules,
  (SELECT ANY_VALUE(end_ns - start_ns) FROM run) AS run_ns
FROM _process JOIN process USING (process_id)
GROUP BY role ORDER BY SUM(wall_ns) DESC, role

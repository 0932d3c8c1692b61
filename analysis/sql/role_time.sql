-- Wall time of each role (process.name) by layer and GPU activity; roles beyond the $roles largest
-- together as '(other roles)'.
--   role_ns    sum over the rows of the role: its recorded time
--   whole_ns   the same over all roles
--   processes  how many processes had the role
WITH _rank AS (
  SELECT name, ROW_NUMBER() OVER (ORDER BY SUM(end_ns - start_ns) DESC, name) AS rank
  FROM process GROUP BY name
), _role AS (
  SELECT process_id, IF(rank <= $roles, name, '(other roles)') AS role
  FROM process JOIN _rank USING (name)
), _size AS (
  SELECT role, COUNT(*) AS processes FROM _role GROUP BY role
), _time AS (
  SELECT role, layer, COALESCE(gpu_busy, FALSE) AS gpu_busy, SUM(duration_ns) AS duration_ns
  FROM breakdown JOIN _role USING (process_id)
  WHERE operation <> '(not recorded)'
  GROUP BY ALL
)
SELECT role, processes, layer, gpu_busy, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER (PARTITION BY role) AS BIGINT) AS role_ns,
  CAST(SUM(duration_ns) OVER () AS BIGINT) AS whole_ns
FROM _time JOIN _size USING (role)
ORDER BY role_ns DESC, role, layer, gpu_busy

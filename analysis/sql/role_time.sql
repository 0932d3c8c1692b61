-- Wall time of the processes of each family by layer and GPU activity; families beyond the $roles
-- largest together as '(other roles)'. Helpers without a training loop are left out.
--   role       what the names of the family have in common
--   role_ns    sum over the rows of the family: its recorded time
--   whole_ns   the same over all families
--   processes  how many processes the family has
-- uses: folded_process, process_family
WITH _process AS (
  SELECT process_id, family, end_ns - start_ns AS wall_ns
  FROM process JOIN process_family USING (process_id)
  WHERE process_id NOT IN (FROM folded_process)
), _rank AS (
  SELECT family, ROW_NUMBER() OVER (ORDER BY SUM(wall_ns) DESC, family) AS rank
  FROM _process GROUP BY family
), _role AS (
  SELECT process_id, IF(rank <= $roles, family, '(other roles)') AS role
  FROM _process JOIN _rank USING (family)
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

-- Each set of processes that waits are for, with what all of its processes have in common.
--   peers                     process_id of them, in order
--   role, family              NULL where they differ
--   first, last               places of the first and the last one (parts/process_family.sql)
-- uses: process_family, wait_target
SELECT peers, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role,
  IF(MIN(family) = MAX(family), MIN(family), NULL) AS family,
  MIN(place) AS first, MAX(place) AS last
FROM (SELECT DISTINCT peers, UNNEST(peers) AS process_id FROM wait_target)
  JOIN process USING (process_id) JOIN process_family USING (process_id)
GROUP BY peers

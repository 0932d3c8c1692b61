-- The training loops of the processes that count in shares, by family and operation.
--   family, processes   processes whose names differ in their number only, and how many they are
--   name, last_name     of the first and the last of them
--   role                of all of them, where they have one
--   waiting_id          process_id of the one that waits most
--   operation           between operations '(between operations)'
--   duration_ns  its time
--   waited_ns    the part of that in which it waits for other processes; slept_ns: for time
--   target_...          whom the process that waits most of the family waits for (parts/main_target.sql)
-- uses: looping_process, process_family, waited_share, main_target
WITH _loop AS (
  SELECT process_id, family, operation, SUM(duration_ns) AS duration_ns,
    COALESCE(SUM(duration_ns * share) FILTER (layer = 'wait'), 0) AS waited_ns,
    COALESCE(SUM(duration_ns * slept_share) FILTER (layer = 'wait'), 0) AS slept_ns
  FROM breakdown JOIN process_family USING (process_id)
    LEFT JOIN waited_share USING (process_id, operation)
  WHERE stage = 'loop' AND operation <> '(not recorded)' AND process_id IN (FROM looping_process)
  GROUP BY ALL
), _waiting AS (
  SELECT family, ARG_MAX(process_id, (waited_ns, -process_id)) AS waiting_id
  FROM (SELECT family, process_id, SUM(waited_ns) AS waited_ns FROM _loop GROUP BY ALL)
  GROUP BY family
), _family AS (
  SELECT family, COUNT(DISTINCT process_id) AS processes, MIN(place).name AS name,
    MAX(place).name AS last_name, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role
  FROM _loop JOIN process USING (process_id) JOIN process_family USING (process_id, family)
  GROUP BY family
)
SELECT _family.family, processes, _family.name, _family.last_name, _family.role,
  waiting_id,
  IF(operation = '(none)', '(between operations)', operation) AS operation,
  CAST(duration_ns AS BIGINT) AS duration_ns, CAST(waited_ns AS BIGINT) AS waited_ns,
  CAST(slept_ns AS BIGINT) AS slept_ns,
  target.kind AS target_kind, target.role AS target_role, target.family AS target_family,
  target.peers AS target_peers, target.name AS target_name, target.last_name AS target_last_name
FROM (
  SELECT family, operation, SUM(duration_ns) AS duration_ns, SUM(waited_ns) AS waited_ns,
    SUM(slept_ns) AS slept_ns
  FROM _loop GROUP BY ALL
) JOIN _family USING (family) JOIN _waiting USING (family)
  LEFT JOIN main_target AS target USING (waiting_id)
ORDER BY SUM(duration_ns) OVER (PARTITION BY _family.family) DESC, _family.family, duration_ns DESC,
  operation

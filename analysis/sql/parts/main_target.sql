-- Which other processes each process waits for most, as one target:
--   waiting_id       the process that waits
--   kind             of the waits, where the processes are not known
--   role, family     of the processes, where all have one
--   peers            how many; the first and the last have the names `name` and `last_name`
-- uses: wait_target, process_family
WITH _set AS (
  SELECT process_id AS waiting_id, kind, peers, SUM(self_ns) AS self_ns FROM wait_target
  WHERE is_other GROUP BY ALL
), _named AS (
  SELECT peers, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role,
    IF(MIN(family) = MAX(family), MIN(family), NULL) AS family
  FROM (SELECT DISTINCT peers, UNNEST(peers) AS process_id FROM _set)
    JOIN process USING (process_id) JOIN process_family USING (process_id)
  GROUP BY peers
), _sum AS (
  SELECT waiting_id, kind, role, family, LIST_DISTINCT(FLATTEN(LIST(peers))) AS peers
  FROM _set LEFT JOIN _named USING (peers) GROUP BY waiting_id, kind, role, family
  QUALIFY ROW_NUMBER() OVER (PARTITION BY waiting_id
    ORDER BY SUM(self_ns) DESC, kind, role, family) = 1
)
SELECT waiting_id, kind, _sum.role, family, LEN(peers) AS peers, first.name AS name,
  last.name AS last_name
FROM _sum LEFT JOIN process AS first ON first.process_id = LIST_MIN(peers)
  LEFT JOIN process AS last ON last.process_id = LIST_MAX(peers)

-- The processes that each process waits for most, of those of the run, as one target:
--   waiting_id       the process that waits
--   role, family     of these processes, where all have one
--   peers            how many; the first and the last have the names `name` and `last_name`
-- uses: wait_target, process_family
WITH _set AS (
  SELECT process_id AS waiting_id, peers, SUM(self_ns) AS self_ns FROM wait_target
  WHERE peers IS NOT NULL GROUP BY ALL
), _named AS (
  SELECT waiting_id, _set.peers, self_ns, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role,
    IF(MIN(family) = MAX(family), MIN(family), NULL) AS family
  FROM (SELECT *, UNNEST(peers) AS process_id FROM _set) AS _set
    JOIN process USING (process_id) JOIN process_family USING (process_id)
  GROUP BY ALL
), _sum AS (
  SELECT waiting_id, role, family, LIST_DISTINCT(FLATTEN(LIST(peers))) AS peers
  FROM _named GROUP BY waiting_id, role, family
  QUALIFY ROW_NUMBER() OVER (PARTITION BY waiting_id ORDER BY SUM(self_ns) DESC, role, family) = 1
)
SELECT waiting_id, _sum.role, family, LEN(peers) AS peers, first.name AS name, last.name AS last_name
FROM _sum JOIN process AS first ON first.process_id = LIST_MIN(peers)
  JOIN process AS last ON last.process_id = LIST_MAX(peers)

-- For which processes a thread without operations waits longest beside the one that the time between
-- operations is of, by stage, over the processes that count in shares.
--   role, family, name, last_name, peers  as in waited_for
--   self_ns  of that thread, a sum over the processes
-- uses: beside_wait, process_family
WITH _peer AS (
  SELECT DISTINCT stage, UNNEST(peers) AS process_id FROM beside_wait
), _named AS (
  SELECT stage, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role,
    IF(MIN(family) = MAX(family), MIN(family), NULL) AS family,
    MIN(place) AS first, MAX(place) AS last, COUNT(*) AS peers
  FROM _peer JOIN process USING (process_id) JOIN process_family USING (process_id)
  GROUP BY stage
), _sum AS (
  SELECT stage, SUM(self_ns) AS self_ns FROM beside_wait GROUP BY stage
)
SELECT stage, role, family, first.name AS name, last.name AS last_name, peers,
  CAST(self_ns AS BIGINT) AS self_ns
FROM _named JOIN _sum USING (stage) ORDER BY stage

-- For what the processes that count in shares waited, by stage and operation: the largest target of each
-- first. `operation` NULL: all operations of the stage together.
--   kind      of the waits; NULL where they were for processes of the run
--   role      of these processes, where all have one
--   family    what their names have in common, where all are of one family (parts/process_family.sql)
--   peers     how many processes; the first and the last one have the names `name` and `last_name`
--   self_ns   sum over the processes, waits inside other waits once
--   share     of all waits of the operation in the stage
-- uses: peer_set, wait_target
WITH _named AS (
  SELECT wait_target.*, role, family, first, last FROM wait_target LEFT JOIN peer_set USING (peers)
), _sum AS (
  SELECT stage, operation, kind, role, family, LIST_DISTINCT(FLATTEN(LIST(peers))) AS peers,
    MIN(first) AS first, MAX(last) AS last, SUM(self_ns) AS self_ns
  FROM (FROM _named UNION ALL SELECT * REPLACE (NULL AS operation) FROM _named)
  GROUP BY ALL
)
SELECT stage, operation, kind, role, family, first.name AS name, last.name AS last_name,
  LEN(peers) AS peers, CAST(self_ns AS BIGINT) AS self_ns,
  self_ns / NULLIF(SUM(self_ns) OVER (PARTITION BY stage, operation), 0) AS share
FROM _sum
ORDER BY stage, operation, self_ns DESC, kind, role, family

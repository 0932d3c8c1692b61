-- Which other processes each process waits for most in its training loop, as one target:
--   waiting_id       the process that waits
--   kind             of the waits, where the processes are not known
--   role, family     of the processes, where all have one
--   peers            how many; the first and the last have the names `name` and `last_name`
-- uses: loop_wait, peer_set
WITH _sum AS (
  SELECT process_id AS waiting_id, kind, role, family, LIST_DISTINCT(FLATTEN(LIST(peers))) AS peers,
    MIN(first) AS first, MAX(last) AS last
  FROM loop_wait LEFT JOIN peer_set USING (peers) WHERE is_other
  GROUP BY process_id, kind, role, family
  QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id
    ORDER BY SUM(self_ns) DESC, kind, role, family) = 1
)
SELECT waiting_id, kind, role, family, LEN(peers) AS peers, first.name AS name, last.name AS last_name
FROM _sum

-- For what each process that counts in shares waited, by operation: the longest first.
--   operation   in none '(start-up)', '(between operations)' or '(end)', by the stage; '(none)' in a process
--               without a training loop
--   process     its name
--   kind, role, family, name, last_name, peers  as in waited_for
--   self_ns     waits inside other waits once
--   process_ns  the same of all waits of the process
-- uses: peer_set, wait_target
WITH _placed AS (
  SELECT process_id,
    CASE WHEN operation <> '(none)' OR stage = 'whole' THEN operation
      WHEN stage = 'loop' THEN '(between operations)' ELSE '(' || stage || ')' END AS operation,
    kind, peers, SUM(self_ns) AS self_ns
  FROM wait_target GROUP BY ALL
)
SELECT process_id, own.name AS process, operation, kind, peer_set.role, family, first.name AS name,
  last.name AS last_name, LEN(peers) AS peers, CAST(self_ns AS BIGINT) AS self_ns,
  CAST(SUM(self_ns) OVER (PARTITION BY process_id) AS BIGINT) AS process_ns
FROM _placed JOIN process AS own USING (process_id) LEFT JOIN peer_set USING (peers)
ORDER BY self_ns DESC, process_id, operation, kind, name

-- For what the processes that count in shares waited, by operation: the largest target of each first.
--   kind      of the waits; NULL where they were for processes of the run
--   role      of these processes, where all have one
--   family    what their names have in common, where all are of one family (parts/process_family.sql)
--   peers     how many processes; the first and the last one have the names `name` and `last_name`
--   self_ns   sum over the processes, waits inside other waits once
--   share     of all waits of the operation
--   loop_share  the same in the training loop, at least: waits in no operation may lie around it, and
--               all that do may have been for this target
-- uses: counted_process, peer_set, wait_target
WITH _around AS (
  SELECT COALESCE(SUM(duration_ns), 0) AS around_ns FROM breakdown
  WHERE operation = '(none)' AND layer = 'wait' AND stage IN ('start-up', 'end')
    AND process_id IN (FROM counted_process)
), _sum AS (
  SELECT operation, kind, role, family, LIST_DISTINCT(FLATTEN(LIST(peers))) AS peers,
    SUM(self_ns) AS self_ns, SUM(SUM(self_ns)) OVER (PARTITION BY operation) AS all_ns
  FROM wait_target LEFT JOIN peer_set USING (peers)
  GROUP BY operation, kind, role, family
)
SELECT operation, kind, _sum.role, family, first.name AS name, last.name AS last_name,
  LEN(peers) AS peers, CAST(self_ns AS BIGINT) AS self_ns, self_ns / NULLIF(all_ns, 0) AS share,
  IF(operation = '(none)', GREATEST(self_ns - around_ns, 0) / NULLIF(GREATEST(all_ns - around_ns, 0), 0),
    self_ns / NULLIF(all_ns, 0)) AS loop_share
FROM _sum CROSS JOIN _around
  LEFT JOIN process AS first ON first.process_id = LIST_MIN(peers)
  LEFT JOIN process AS last ON last.process_id = LIST_MAX(peers)
ORDER BY operation, self_ns DESC, kind, _sum.role, family

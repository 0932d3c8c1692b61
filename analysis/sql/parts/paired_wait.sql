-- Waits, each with the processes at the other end (relation wait_peer):
--   peers    their process_id, in order; NULL: none is known
WITH _peers AS (
  SELECT process_id, kind, object, function, LIST(peer_process_id ORDER BY peer_process_id) AS peers
  FROM wait_peer GROUP BY ALL
)
SELECT wait.*, peers
FROM wait LEFT JOIN _peers ON _peers.process_id = wait.process_id AND _peers.kind = wait.kind
  AND _peers.object IS NOT DISTINCT FROM wait.object
  AND _peers.function IS NOT DISTINCT FROM wait.function

-- Steps of environments ($operations) of a process ($process_id) that wait for a program of another kind:
-- no worker that rlscope knows.
--   steps, wait_ns   waits of the operation for it: how many messages were sent, and all the time
--   program          its name
WITH _peer AS (
  SELECT process_id AS peer_process_id, name FROM process
  WHERE process_id <> $process_id AND role IN ('program', 'helper')
)
SELECT operation, name AS program, CAST(MAX(count) AS BIGINT) AS steps,
  CAST(SUM(self_ns) AS BIGINT) AS wait_ns
FROM wait JOIN _peer USING (peer_process_id)
WHERE process_id = $process_id AND stage = 'loop' AND kind IN ('pipe', 'socket')
  AND operation IN (SELECT UNNEST($operations))
GROUP BY operation, name ORDER BY wait_ns DESC, operation, name

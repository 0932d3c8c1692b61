-- Processes whose training loop learns, steps no environment, and waits for processes that do.
--   loop_ns, wait_ns   of the process: its loop, and the part in which it waits
--   actors             processes that step environments, for which it waits
--   actor_share        CPUs that one of them takes, on average
--   cores              CPUs that the run could use
WITH _loop AS (
  SELECT process_id, SUM(duration_ns) AS loop_ns,
    SUM(duration_ns) FILTER (layer = 'wait') AS wait_ns,
    BOOL_OR(operation IN (SELECT UNNEST($learning))) AS learns,
    BOOL_OR(operation IN (SELECT UNNEST($simulation))) AS steps
  FROM breakdown WHERE stage = 'loop' GROUP BY process_id
), _actor AS (
  SELECT process_id, cpu_ns / (end_ns - COALESCE(python_start_ns, start_ns)) AS share
  FROM _loop JOIN process USING (process_id) WHERE steps AND NOT learns AND end_ns > start_ns
), _peer AS (
  SELECT DISTINCT process_id, peer_process_id FROM wait_peer
  WHERE kind IN ('pipe', 'socket', 'semaphore') AND peer_process_id IN (SELECT process_id FROM _actor)
)
SELECT _loop.process_id, CAST(loop_ns AS BIGINT) AS loop_ns, CAST(wait_ns AS BIGINT) AS wait_ns,
  COUNT(*) AS actors, CAST(AVG(share) AS DOUBLE) AS actor_share, ANY_VALUE(cores) AS cores
FROM _loop JOIN _peer USING (process_id) JOIN _actor ON peer_process_id = _actor.process_id
  JOIN process ON process.process_id = _loop.process_id JOIN host USING (host_id)
WHERE learns AND NOT steps AND wait_ns > 0
GROUP BY _loop.process_id, loop_ns, wait_ns
ORDER BY wait_ns DESC, _loop.process_id

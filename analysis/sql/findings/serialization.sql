-- Messages between a process ($process_id) and those that it waits for, in its training loop.
--   pickled_ns     its own pickling, but that of checkpoints; peer_pickled_ns: of the peer that pickles longest
--   messages       of that peer
--   wait_ns        time of the loop in which it waits for processes, and for nothing else; or for the threads
--                  of a pool, which send and take its messages
--   work_ns        of the peer that works longest: its steps of environments ($operations), or, if it has
--                  none, all that it does but pickling, imports and compilations. Without its waits, but
--                  for those for time
--   read_ns        how long it takes in the mean to unpickle a message; asked_ns: its peers. NULL: not known
--   operation      in which it waits longest
--   are_loaders    whether all these peers are workers of a PyTorch DataLoader
WITH _message AS (
  SELECT operation, SUM(self_ns) AS self_ns FROM wait
  WHERE process_id = $process_id AND stage = 'loop' AND kind IN ('pipe', 'socket')
  GROUP BY operation
), _state AS (
  SELECT operation, SUM(duration_ns) AS waited_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'wait' AND reason = 'process'
  GROUP BY operation
), _direct AS (  -- threads beside the loop wait for messages, too
  SELECT operation, LEAST(self_ns, waited_ns) AS wait_ns FROM _message JOIN _state USING (operation)
), _pool AS (
  SELECT operation, SUM(duration_ns) AS wait_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'wait' AND reason = 'thread'
    AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _wait AS (
  FROM _direct UNION ALL BY NAME FROM _pool WHERE NOT EXISTS (FROM _direct)
), _peer AS (
  SELECT DISTINCT peer_process_id AS process_id FROM wait_peer
  WHERE process_id = $process_id AND kind IN ('pipe', 'socket')
    AND peer_process_id <> $process_id
), _pickle AS (
  SELECT process_id, SUM(duration_ns) AS pickled_ns, SUM(calls) AS messages FROM native_call
  WHERE layer = 'python' AND function LIKE 'pickle:%'
    AND NOT REGEXP_FULL_MATCH(operation, '(.*/)?(saving|loading)')
  GROUP BY process_id
), _read AS (
  SELECT process_id, SUM(duration_ns) AS duration_ns, SUM(calls) AS calls FROM native_call
  WHERE layer = 'python' AND function = 'pickle:loads' GROUP BY process_id
), _longest AS (
  SELECT MAX(pickled_ns) AS peer_pickled_ns, MAX(messages) AS messages
  FROM _pickle WHERE process_id IN (FROM _peer)
), _own AS (
  SELECT process_id, COALESCE(
    SUM(duration_ns) FILTER (operation IN (SELECT UNNEST($operations))),
    SUM(duration_ns) - COALESCE(ANY_VALUE(pickled_ns), 0)) AS own_ns
  FROM breakdown LEFT JOIN _pickle USING (process_id)
  WHERE process_id IN (FROM _peer) AND layer NOT IN ('wait', 'none')
    AND NOT REGEXP_FULL_MATCH(operation, '(.*/)?(compilation|import)')
  GROUP BY process_id
), _sleep AS (
  SELECT process_id, SUM(self_ns) AS slept_ns FROM wait WHERE kind = 'sleep' GROUP BY process_id
), _work AS (
  SELECT MAX(own_ns + COALESCE(slept_ns, 0)) AS work_ns FROM _own LEFT JOIN _sleep USING (process_id)
)
SELECT ARG_MAX(operation, _wait.wait_ns) AS operation, CAST(SUM(_wait.wait_ns) AS BIGINT) AS wait_ns,
  COALESCE((SELECT CAST(pickled_ns AS BIGINT) FROM _pickle WHERE process_id = $process_id), 0) AS pickled_ns,
  CAST(COALESCE(ANY_VALUE(peer_pickled_ns), 0) AS BIGINT) AS peer_pickled_ns,
  CAST(COALESCE(ANY_VALUE(messages), 0) AS BIGINT) AS messages,
  (SELECT duration_ns / calls FROM _read WHERE process_id = $process_id) AS read_ns,
  (SELECT SUM(duration_ns) / SUM(calls) FROM _read WHERE process_id IN (FROM _peer)) AS asked_ns,
  CAST(COALESCE(ANY_VALUE(work_ns), 0) AS BIGINT) AS work_ns,
  COALESCE((SELECT BOOL_AND(role = 'data loader worker') FROM process WHERE process_id IN (FROM _peer)), FALSE)
    AS are_loaders
FROM _wait, _longest, _work HAVING COUNT(*) > 0

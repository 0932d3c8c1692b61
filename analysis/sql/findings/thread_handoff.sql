-- How long the training loop of a process ($process_id) waits because threads hand work to each other: no
-- row if they do not wait for locks.
--   waited_ns   time of the loop in which it waits for a thread beside it, and nobody works
--   waits       waits of all threads for locks, but not for those that a thread enters to hold; locks_ns
--   threads     that wait so
WITH _idle AS (
  SELECT SUM(duration_ns) AS waited_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'wait' AND reason = 'thread'
), _wait AS (
  SELECT SUM(count) AS waits, SUM(self_ns) AS locks_ns,
    COUNT(DISTINCT thread_id) FILTER (count > 1) AS threads
  FROM wait WHERE process_id = $process_id AND stage = 'loop' AND kind = 'lock'
    AND NOT REGEXP_MATCHES(function, '__enter__$')
)
SELECT CAST(waited_ns AS BIGINT) AS waited_ns, CAST(waits AS BIGINT) AS waits,
  CAST(locks_ns AS BIGINT) AS locks_ns, threads
FROM _idle, _wait WHERE waited_ns > 0 AND locks_ns > 0

-- CPU time that threads of native libraries take in a process ($process_id), and how long its loop waits
-- for them in calls of frameworks.
--   running_ns     of the threads that recorded something; runnable_ns: in which they waited for a CPU
--   others_ns      CPU time of all other threads. Of a process that was killed, readings of its load tell
--   framework_ns   of the training loop, in layer framework; blocked_ns: in which no thread that counts
--                  ran or was runnable, with below_ns2 and above_ns2, the squared distances to the ends
--   cores          CPUs that the run could use
-- TensorFlow and XLA run every operator in threads of their own, however few: a loop that waits for these
-- waits for the work. A process whose calls are mostly theirs has no row.
WITH _recorded AS (
  SELECT SUM(running_ns) AS running_ns, COALESCE(SUM(runnable_ns), 0) AS runnable_ns
  FROM thread WHERE process_id = $process_id
), _load AS (
  SELECT AVG(value) / 100 AS cpus FROM machine_sample
  WHERE process_id = $process_id AND metric = 'cpu_percent'
), _process AS (
  SELECT host_id, COALESCE(cpu_ns, cpus * (end_ns - start_ns)) AS cpu_ns
  FROM process, _load WHERE process_id = $process_id
), _blocked AS (
  SELECT SUM(duration_ns) AS framework_ns, SUM(blocked_ns) AS blocked_ns,
    SUM(POW(blocked_ns - blocked_low_ns, 2)) AS below_ns2,
    SUM(POW(blocked_high_ns - blocked_ns, 2)) AS above_ns2
  FROM blocked WHERE process_id = $process_id AND stage = 'loop' AND layer = 'framework'
), _elsewhere AS (
  SELECT COALESCE(SUM(self_ns), 0) AS all_ns,
    COALESCE(SUM(self_ns) FILTER (REGEXP_MATCHES(function, '^(tensorflow|jax|jaxlib)\.')), 0) AS elsewhere_ns
  FROM native_call WHERE process_id = $process_id AND layer = 'framework'
)
SELECT CAST(running_ns AS BIGINT) AS running_ns, CAST(runnable_ns AS BIGINT) AS runnable_ns,
  CAST(cpu_ns - running_ns AS BIGINT) AS others_ns,
  CAST(framework_ns AS BIGINT) AS framework_ns, CAST(blocked_ns AS BIGINT) AS blocked_ns,
  CAST(below_ns2 AS DOUBLE) AS below_ns2, CAST(above_ns2 AS DOUBLE) AS above_ns2, cores
FROM _process JOIN host USING (host_id), _recorded, _blocked, _elsewhere
WHERE running_ns > 0 AND framework_ns > 0 AND 2 * elsewhere_ns <= all_ns AND cpu_ns IS NOT NULL

-- Operations ($operations) of the loop of a process ($process_id) in which one thread waits while others
-- step environments: one row for each.
--   operation_ns  of the operation in the loop; wait_ns, work_ns: parts of that
--   threads, steps, stepped_ns  the other threads of it, and theirs; in as large a part of their time as
--                 the loop has of the thread's that has most
WITH _thread AS (
  SELECT path AS operation, thread_id, COUNT(*) AS steps, SUM(self_ns) AS self_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND path IN (SELECT UNNEST($operations)) GROUP BY ALL
), _owner AS (
  SELECT operation, ARG_MAX(thread_id, (self_ns, -thread_id)) AS thread_id, MAX(self_ns) AS self_ns
  FROM _thread GROUP BY operation
), _other AS (
  SELECT _thread.operation, COUNT(*) AS threads, SUM(steps) AS steps, SUM(_thread.self_ns) AS self_ns,
    ANY_VALUE(_owner.self_ns) AS owner_ns
  FROM _thread JOIN _owner USING (operation) WHERE _thread.thread_id <> _owner.thread_id
  GROUP BY _thread.operation
), _loop AS (
  SELECT operation, SUM(duration_ns) AS operation_ns,
    COALESCE(SUM(duration_ns) FILTER (layer = 'wait'), 0) AS wait_ns
  FROM training_loop WHERE process_id = $process_id GROUP BY operation
)
SELECT operation, threads, CAST(steps AS BIGINT) AS steps,
  CAST(_other.self_ns * LEAST(operation_ns / owner_ns, 1) AS BIGINT) AS stepped_ns,
  CAST(operation_ns AS BIGINT) AS operation_ns, CAST(wait_ns AS BIGINT) AS wait_ns,
  CAST(operation_ns - wait_ns AS BIGINT) AS work_ns
FROM _other JOIN _loop USING (operation) WHERE owner_ns > 0 ORDER BY operation_ns DESC, operation

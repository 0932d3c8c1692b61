-- Processes as a tree, parents before their children, siblings in order of start; at most $processes
-- rows, the longest ones. Helpers without a training loop have no row; what they started stands
-- below the process that started them. A process whose parent is unknown or left out is a root.
--   wall_ns   end_ns - start_ns
--   begin_ns  start since the run began
--   busy_ns   wall time in an operation in the training loop
--   children  all processes that it started, also those left out here
--   threads   threads that recorded something
-- uses: folded_process
WITH RECURSIVE _kept AS (
  FROM process WHERE process_id NOT IN (FROM folded_process)
  ORDER BY end_ns - start_ns DESC, process_id LIMIT $processes
), _above(process_id, parent) AS (
  SELECT process_id, parent_process_id FROM _kept
  UNION ALL
  SELECT _above.process_id, process.parent_process_id
  FROM _above JOIN process ON process.process_id = parent
  WHERE parent IN (FROM folded_process)
), _parent AS (
  FROM _above WHERE parent IN (SELECT process_id FROM _kept)
), _placed(process_id, depth, place) AS (
  SELECT process_id, 0, [start_ns, process_id] FROM _kept
  WHERE process_id NOT IN (SELECT process_id FROM _parent)
  UNION ALL
  SELECT _kept.process_id, depth + 1, list_concat(place, [start_ns, _kept.process_id])
  FROM _kept JOIN _parent USING (process_id) JOIN _placed ON parent = _placed.process_id
), _busy AS (
  SELECT process_id, SUM(duration_ns) AS busy_ns FROM breakdown
  WHERE stage = 'loop' AND operation NOT IN ('(none)', '(not recorded)') GROUP BY process_id
)
SELECT process_id, parent_process_id, depth, os_pid, name, role, program, python,
  start_ns - (SELECT MIN(start_ns) FROM run) AS begin_ns, end_ns - start_ns AS wall_ns,
  CAST(COALESCE(busy_ns, 0) AS BIGINT) AS busy_ns, cpu_ns, profiler_cpu_ns, events,
  (SELECT COUNT(*) FROM thread WHERE thread.process_id = _kept.process_id) AS threads,
  (SELECT COUNT(*) FROM process AS child WHERE child.parent_process_id = _kept.process_id)
    AS children,
  exit, ended
FROM _kept JOIN _placed USING (process_id) LEFT JOIN _busy USING (process_id)
ORDER BY place

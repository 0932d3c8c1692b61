-- Processes that a process ($process_id) started in its training loop: how many, and what they worked.
--   read        how many of them rls-prof read the stacks of, and cores: of the host
--   worked_ns   time of those without waits, in what they were started for: not in beginning and ending, in
--               imports, or in asking for work, which a process that is killed may do until its end
--   began_ns    the rest of their time without waits, but for asking for work
WITH RECURSIVE _loop AS (
  SELECT MIN(start_ns) AS begin_ns, MAX(start_ns) AS last_ns
  FROM operation_instance WHERE process_id = $process_id
), _started AS (
  SELECT process_id, host_id FROM process CROSS JOIN _loop
  WHERE parent_process_id = $process_id AND process.start_ns BETWEEN begin_ns AND last_ns
), _stack AS (
  SELECT process_id, stack_id, parent_id, file, function FROM stack
  SEMI JOIN _started USING (process_id)
), _run AS (
  SELECT process_id, stack_id FROM _stack
  WHERE function = 'BaseProcess.run' AND file LIKE '%/multiprocessing/process.py'
  UNION
  SELECT process_id, _stack.stack_id FROM _run JOIN _stack USING (process_id)
  WHERE _stack.parent_id = _run.stack_id AND NOT REGEXP_FULL_MATCH(
    file, '<frozen importlib.*|.*/multiprocessing/(connection|queues|synchronize)\.py')
), _kept AS (
  SELECT DISTINCT process_id, stack_id, TRUE AS is_work FROM _run
), _time AS (
  SELECT process_id, COALESCE(SUM(self_ns) FILTER (is_work), 0) AS worked_ns,
    COALESCE(SUM(self_ns) FILTER (is_work IS NULL AND NOT REGEXP_FULL_MATCH(
      file, '.*/multiprocessing/(connection|queues|synchronize)\.py')), 0) AS began_ns
  FROM stack_time JOIN _stack USING (process_id, stack_id) LEFT JOIN _kept USING (process_id, stack_id)
  WHERE layer <> 'wait' GROUP BY process_id
)
SELECT COUNT(*) AS started, COUNT(_time.process_id) AS read, COALESCE(MAX(cores), 1) AS cores,
  COALESCE(CAST(SUM(worked_ns) AS DOUBLE), 0) AS worked_ns,
  COALESCE(CAST(SUM(began_ns) AS DOUBLE), 0) AS began_ns
FROM _started LEFT JOIN _time USING (process_id) LEFT JOIN host USING (host_id)

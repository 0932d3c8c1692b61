-- Operations of simulation ($operations) in the loop of a process ($process_id) whose first steps returned one
-- reward each, and that call a framework: that with most of it first.
--   framework_ns, python_ns  of the loop, by layer; entries: of the operation
--   calls, calls_ns          of native functions of the framework
-- uses: one_reward
WITH _state AS (
  SELECT operation, SUM(duration_ns) FILTER (layer = 'framework') AS framework_ns,
    SUM(duration_ns) FILTER (layer = 'python') AS python_ns
  FROM training_loop
  WHERE process_id IN (SELECT process_id FROM one_reward) AND process_id = $process_id
    AND stage = 'loop' AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _entry AS (
  SELECT path AS operation, COUNT(*) AS entries FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
), _call AS (
  SELECT operation, SUM(calls) AS calls, SUM(duration_ns) AS calls_ns FROM native_call
  WHERE process_id = $process_id AND layer = 'framework' GROUP BY operation
)
SELECT operation, CAST(framework_ns AS BIGINT) AS framework_ns, CAST(COALESCE(python_ns, 0) AS BIGINT) AS python_ns,
  entries, CAST(calls AS BIGINT) AS calls, CAST(calls_ns AS BIGINT) AS calls_ns
FROM _state JOIN _entry USING (operation) JOIN _call USING (operation)
WHERE framework_ns > 0 ORDER BY framework_ns DESC, operation LIMIT 1

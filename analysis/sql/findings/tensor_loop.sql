-- Lines of the program's own from which the training loop of a process ($process_id) calls a framework
-- directly, with no function of a library between, in operations with brief calls in great number.
--   function      the native function whose calls take longest, of those that are called $looped times in an
--                 entry ($between: between operations), if there are any: a backward is called once
--   calls         in the operation; entries: of the operation. Between operations: steps of environments,
--                 which are the operations $operations
--   duration_ns   of these calls
--   own_ns        of the line, with below_ns2 and above_ns2, the squared distances to its interval's ends
WITH _entry AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
), _sum AS (
  SELECT operation, function, SUM(calls) AS calls, SUM(duration_ns) AS duration_ns FROM native_call
  WHERE process_id = $process_id AND layer = 'framework'
  GROUP BY operation, function
), _counted AS (
  SELECT _sum.*, IF(entries IS NULL, $between, $looped) AS fewest, COALESCE(entries,
    (SELECT MAX(entries) FROM _entry WHERE operation IN (SELECT UNNEST($operations))),
    (SELECT MAX(entries) FROM _entry), 1) AS entries
  FROM _sum LEFT JOIN _entry USING (operation)
), _call AS (
  SELECT * FROM _counted
  QUALIFY ROW_NUMBER() OVER (
    PARTITION BY operation ORDER BY calls >= fewest * entries DESC, duration_ns DESC, function
  ) = 1
), _line AS (
  SELECT file, line, operation, SUM(self_ns) AS own_ns,
    COALESCE(SUM(self_ns) FILTER (layer = 'framework'), 0) AS framework_ns,
    SUM(POW((own_ns - own_low_ns) * (self_ns / own_ns), 2)) AS below_ns2,
    SUM(POW((own_high_ns - own_ns) * (self_ns / own_ns), 2)) AS above_ns2
  FROM source_line
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND is_own AND line IS NOT NULL
    AND layer IN ('framework', 'python') AND own_ns > 0
  GROUP BY file, line, operation
)
SELECT file, line, operation, function, CAST(calls AS BIGINT) AS calls,
  CAST(entries AS BIGINT) AS entries,
  CAST(duration_ns AS BIGINT) AS duration_ns, CAST(own_ns AS DOUBLE) AS own_ns,
  CAST(framework_ns AS DOUBLE) AS framework_ns,
  CAST(below_ns2 AS DOUBLE) AS below_ns2, CAST(above_ns2 AS DOUBLE) AS above_ns2
FROM _line JOIN _call USING (operation)
WHERE own_ns > 0
ORDER BY own_ns DESC, file, line, operation

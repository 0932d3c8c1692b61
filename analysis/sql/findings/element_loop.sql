-- Lines of the program's own in which Python itself takes time of the training loop of a process
-- ($process_id), with no function of a library and no call of a framework.
--   own_ns    of the line, with below_ns2 and above_ns2, the squared distances to its interval's ends
--   entries   of the operation. Between operations: steps of environments, which are the operations
--             $operations, or as many as the most frequent operation has
WITH _entry AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
), _line AS (
  SELECT file, line, operation,
    SUM(self_ns) FILTER (layer = 'python') AS own_ns,
    SUM(POW((own_ns - own_low_ns) * (self_ns / own_ns), 2)) FILTER (layer = 'python') AS below_ns2,
    SUM(POW((own_high_ns - own_ns) * (self_ns / own_ns), 2)) FILTER (layer = 'python') AS above_ns2,
    COALESCE(SUM(own_ns) FILTER (layer <> 'python'), 0) AS other_ns
  FROM source_line
  WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND is_own AND line IS NOT NULL
    AND layer <> 'gpu' AND own_ns > 0
  GROUP BY file, line, operation
)
SELECT file, line, operation, CAST(COALESCE(entries,
    (SELECT MAX(entries) FROM _entry WHERE operation IN (SELECT UNNEST($operations))),
    (SELECT MAX(entries) FROM _entry), 1) AS BIGINT) AS entries, CAST(own_ns AS DOUBLE) AS own_ns,
  CAST(below_ns2 AS DOUBLE) AS below_ns2, CAST(above_ns2 AS DOUBLE) AS above_ns2
FROM _line LEFT JOIN _entry USING (operation)
WHERE own_ns > other_ns
ORDER BY own_ns DESC, file, line, operation

-- Garbage collections in the training loop of a process ($process_id), by operation: all of them, and
-- those that go through all objects, in the proportion of the whole run.
WITH by_generation AS (
  SELECT operation, SUM(self_ns) AS all_ns,
    SUM(self_ns) FILTER ("function" = 'gc:generation 2') AS full_ns
  FROM native_call WHERE process_id = $process_id AND "function" LIKE 'gc:generation %'
  GROUP BY operation
),
in_loop AS (
  SELECT operation, SUM(duration_ns) AS collecting_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND reason = 'collection'
  GROUP BY operation
)
SELECT operation, CAST(collecting_ns AS BIGINT) AS collecting_ns,
  COALESCE(collecting_ns * full_ns / all_ns, 0) AS full_ns
FROM in_loop JOIN by_generation USING (operation)
ORDER BY full_ns DESC, collecting_ns DESC, operation

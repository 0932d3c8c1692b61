-- Waits of a kind ($kind) of a process ($process_id) in its training loop, by operation. The loop does not
-- wait while only a thread beside it does: the reason ($reason) of its own waits says so.
--   wait_ns      time of the loop in which it waits for that reason, and for nothing else
--   main_ns      the part of it in such waits of the main thread, and main_count: how many
--   count        such waits; function: the one that waits most
--   sleeps       those of functions that wait for 50 us or more at a time, as far as the loop is in them
--   file, line   the program's own line that waits most in this operation; NULL: not known
WITH _main AS (
  SELECT ARG_MIN(thread_id, start_ns) AS thread_id, TRUE AS is_main FROM thread
  WHERE process_id = $process_id
), _wait AS (
  SELECT operation, SUM(count) AS count, SUM(duration_ns) AS duration_ns,
    COALESCE(SUM(count) FILTER (duration_ns >= 50000 * count), 0) AS sleeps,
    SUM(self_ns) AS self_ns,
    COALESCE(SUM(self_ns) FILTER (is_main), 0) AS main_ns,
    COALESCE(SUM(count) FILTER (is_main), 0) AS main_count,
    ARG_MAX(function, duration_ns) AS function
  FROM wait LEFT JOIN _main USING (thread_id)
  WHERE process_id = $process_id AND stage = 'loop' AND kind = $kind GROUP BY operation
), _state AS (
  SELECT operation, SUM(duration_ns) AS wait_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'wait' AND reason = $reason
  GROUP BY operation
), _line AS (
  SELECT operation, file, line, SUM(own_ns) AS own_ns FROM source_line
  WHERE process_id = $process_id AND stage = 'loop' AND is_own AND line IS NOT NULL
    AND layer = 'wait'
  GROUP BY operation, file, line
  QUALIFY ROW_NUMBER() OVER (PARTITION BY operation ORDER BY SUM(own_ns) DESC, file, line) = 1
)
SELECT operation, CAST(wait_ns AS BIGINT) AS wait_ns,
  CAST(LEAST(wait_ns, main_ns) AS BIGINT) AS main_ns, CAST(main_count AS BIGINT) AS main_count,
  CAST(sleeps * LEAST(wait_ns, self_ns) / GREATEST(self_ns, 1) AS BIGINT) AS sleeps,
  CAST(count AS BIGINT) AS count, function, file, line
FROM _wait JOIN _state USING (operation) LEFT JOIN _line USING (operation)
ORDER BY wait_ns DESC, operation

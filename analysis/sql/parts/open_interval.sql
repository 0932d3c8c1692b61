-- Outermost operations that were open in the training loop, in any thread; and gaps between windows, with
-- operation_id NULL. Where exits came out of order, an operation may outlast the one around it. So there,
-- operations inside others count, too.
-- uses: loop_bound, kept_from
WITH _process AS (
  SELECT process_id, from_ns, until_ns, process_id IN (
    SELECT process_id FROM loss WHERE kind = 'exit_out_of_order') AS nested
  FROM loop_bound WHERE process_id NOT IN (SELECT process_id FROM kept_from)
), _interval AS (
  SELECT process_id, operation_id, depth, start_ns, start_ns + duration_ns AS end_ns
  FROM operation_instance JOIN operation USING (operation_id)
  UNION ALL
  SELECT process_id, NULL, 0, start_ns + duration_ns,
    LEAD(start_ns) OVER (PARTITION BY process_id ORDER BY start_ns)
  FROM recording_window
)
SELECT process_id, operation_id, start_ns, end_ns
FROM _interval JOIN _process USING (process_id)
WHERE (depth = 0 OR nested) AND start_ns < end_ns AND end_ns > from_ns AND start_ns < until_ns

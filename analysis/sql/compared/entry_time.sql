-- How long an entry into each operation of a process ($process_id) takes, in its complete iterations, as
-- a histogram: own time of the entries in steps of 0.5 %, by $blocks blocks of consecutive iterations.
--   operation  (none): the time between operations, of which an iteration has one entry
--   block      from 0 on
--   step       an entry of it took exp(step / 200) ns, or up to 0.5 % more; 0: less than 1 ns, too
-- uses: own_iteration, kept_from
WITH _placed AS (
  SELECT process_id, iteration, source,
    ($blocks * (ROW_NUMBER() OVER (ORDER BY iteration) - 1)) // COUNT(*) OVER () AS block
  FROM own_iteration LEFT JOIN kept_from USING (process_id)
  WHERE process_id = $process_id AND (from_ns IS NULL OR start_ns >= from_ns)
), _entry AS (
  SELECT path AS operation, block, self_ns
  FROM operation_instance JOIN _placed USING (process_id, iteration) JOIN operation USING (operation_id)
  UNION ALL
  SELECT operation, block, SUM(duration_ns)
  FROM iteration_breakdown AS state JOIN _placed ON state.process_id = _placed.process_id
    AND state.iteration = _placed.iteration AND state.iteration_source IS NOT DISTINCT FROM _placed.source
  WHERE operation = '(none)' GROUP BY operation, block, state.iteration
)
SELECT operation, CAST(block AS BIGINT) AS block,
  CAST(FLOOR(200 * LN(GREATEST(self_ns, 1))) AS BIGINT) AS step, COUNT(*) AS entries
FROM _entry GROUP BY ALL ORDER BY ALL

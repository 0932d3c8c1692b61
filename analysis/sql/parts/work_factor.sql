-- For how many pieces of an operation's GPU work a recorded one stands, where GPU work was recorded in
-- windows: its entries, divided by those in recorded iterations. What is in no operation goes by iterations.
WITH _process AS (
  SELECT DISTINCT process_id FROM loss WHERE kind = 'gpu_unrecorded'
), _entry AS (
  SELECT process_id, path AS operation, iteration
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id IN (FROM _process)
  UNION ALL
  SELECT process_id, '(none)', iteration FROM iteration
  WHERE complete AND process_id IN (FROM _process)
)
SELECT process_id, operation,
  COUNT(*) / NULLIF(COUNT(*) FILTER (iteration IS NULL OR gpu_recorded), 0) AS factor
FROM _entry LEFT JOIN iteration USING (process_id, iteration)
GROUP BY process_id, operation

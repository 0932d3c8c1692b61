-- How long entries into an operation ($operation) of a process ($process_id) take from the beginning of the
-- run to its end, by quarters of their number.
--   entries     of all quarters
--   first_ns    one entry of the first tenth, on average
--   quarter_ns  one entry of each quarter, on average, in order
WITH _entry AS (
  SELECT self_ns, NTILE(4) OVER (ORDER BY start_ns) AS quarter, NTILE(10) OVER (ORDER BY start_ns) AS tenth
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND path = $operation
), _quarter AS (
  SELECT quarter, AVG(self_ns) AS ns FROM _entry GROUP BY quarter
)
SELECT COUNT(*) AS entries, AVG(self_ns) FILTER (tenth = 1) AS first_ns,
  (SELECT LIST(ns ORDER BY quarter) FROM _quarter) AS quarter_ns
FROM _entry HAVING COUNT(*) > 0

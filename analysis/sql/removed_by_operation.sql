-- The same of one entry of each operation that the program annotates.
-- uses: chosen_process
WITH _entered AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
    JOIN chosen_process USING (process_id)
  WHERE source = 'explicit' GROUP BY ALL
)
SELECT operation, SUM(duration_ns - corrected_ns) / ANY_VALUE(entries) AS mean,
  SUM(duration_ns - corrected_high_ns) / ANY_VALUE(entries) AS low,
  SUM(duration_ns - corrected_low_ns) / ANY_VALUE(entries) AS high
FROM breakdown JOIN chosen_process USING (process_id) JOIN _entered USING (operation)
WHERE source = 'explicit' GROUP BY ALL

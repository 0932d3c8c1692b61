-- How often each operation that the program annotates was entered, in each iteration; iteration NULL:
-- outside of all.
SELECT process_id, iteration, path AS operation, COUNT(*) AS entries
FROM operation_instance JOIN operation USING (operation_id)
WHERE source = 'explicit' GROUP BY ALL

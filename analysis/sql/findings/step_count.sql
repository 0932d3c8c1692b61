-- How often environments step in a process ($process_id): entries into the operations $simulation.
SELECT COUNT(*) AS steps FROM operation_instance JOIN operation USING (operation_id)
WHERE process_id = $process_id AND path IN (SELECT UNNEST($simulation))

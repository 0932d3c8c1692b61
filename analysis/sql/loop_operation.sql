-- The operations in the training loop of a process ($process_id), by path.
SELECT DISTINCT operation FROM training_loop
WHERE process_id = $process_id AND stage = 'loop' AND source IS NOT NULL ORDER BY operation

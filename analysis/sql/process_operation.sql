-- The operations of a process ($process_id), by path, the one with most time first.
SELECT operation FROM breakdown
WHERE process_id = $process_id AND source IS NOT NULL
GROUP BY operation ORDER BY SUM(duration_ns) DESC, operation

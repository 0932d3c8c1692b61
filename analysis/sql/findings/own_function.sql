-- Functions of the program's own on the stacks of a process ($process_id): file, function.
SELECT DISTINCT file, function FROM stack
WHERE process_id = $process_id AND is_own AND file IS NOT NULL AND function IS NOT NULL
ORDER BY file, function

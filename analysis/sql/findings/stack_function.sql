-- Functions on the stacks of a process ($process_id), as part called_stack compares them: name.
SELECT DISTINCT file || ':' || function AS name FROM stack
WHERE process_id = $process_id AND file IS NOT NULL AND function IS NOT NULL
ORDER BY name

-- How often an operation ($operation) of a process ($process_id) calls native functions of frameworks.
SELECT "function", CAST(SUM(calls) AS BIGINT) AS calls FROM native_call
WHERE process_id = $process_id AND operation = $operation AND layer = 'framework'
GROUP BY "function" ORDER BY calls DESC, "function"

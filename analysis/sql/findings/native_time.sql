-- Time of a process ($process_id) in native functions of frameworks with a name ($called), as cat of
-- torch:cat, in an operation ($operation). NULL: there is none.
SELECT CAST(SUM(self_ns) AS BIGINT) AS self_ns FROM native_call
WHERE process_id = $process_id AND operation = $operation AND layer = 'framework'
  AND regexp_extract("function", '[^.:]*$') = $called

-- Functions of frameworks whose names are like $pattern, in an operation ($operation) of a process
-- ($process_id), the longest first: function, calls, duration_ns. It asks for those that change a tensor in place.
SELECT function, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM native_call
WHERE process_id = $process_id AND operation = $operation AND layer = 'framework'
  AND REGEXP_MATCHES(function, $pattern)
GROUP BY function ORDER BY duration_ns DESC, function

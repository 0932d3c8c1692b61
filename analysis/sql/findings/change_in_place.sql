-- Functions of frameworks that change a tensor in place, in an operation ($operation) of a process
-- ($process_id), the longest first: function, calls, duration_ns.
SELECT function, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM native_call
WHERE process_id = $process_id AND operation = $operation AND layer = 'framework'
  AND REGEXP_MATCHES(function, '\.[a-z]+_$')
GROUP BY function ORDER BY duration_ns DESC, function

-- The native functions that take the most time over all operations and processes: $functions rows.
--   share      of the native time of all functions
--   processes  how many processes called any of all functions
SELECT function, layer, CAST(SUM(calls) AS BIGINT) AS calls,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns, CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  SUM(duration_ns) / SUM(SUM(duration_ns)) OVER () AS share,
  (SELECT COUNT(DISTINCT process_id) FROM native_call) AS processes
FROM native_call
GROUP BY function, layer
ORDER BY duration_ns DESC, function, layer
LIMIT $functions

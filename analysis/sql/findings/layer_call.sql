-- Calls of linear layers of PyTorch by a process ($process_id), in all of its operations: one row.
SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) AS calls,
  CAST(COALESCE(SUM(duration_ns), 0) AS BIGINT) AS duration_ns
FROM native_call WHERE process_id = $process_id AND layer = 'framework' AND function LIKE '%:linear'

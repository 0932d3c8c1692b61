-- What an operation ($operation) of the loop of a process ($process_id) waits, and what it works.
SELECT CAST(COALESCE(SUM(duration_ns) FILTER (layer = 'wait'), 0) AS BIGINT) AS wait_ns,
  CAST(COALESCE(SUM(duration_ns) FILTER (layer <> 'wait'), 0) AS BIGINT) AS work_ns
FROM training_loop WHERE process_id = $process_id AND operation = $operation

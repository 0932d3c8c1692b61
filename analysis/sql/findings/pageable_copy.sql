-- Copies of a process ($process_id) from pageable memory to the GPU, by operation.
SELECT operation, CAST(SUM("count") AS BIGINT) AS copies, CAST(SUM(bytes) AS BIGINT) AS bytes,
  CAST(SUM(duration_ns) AS BIGINT) AS copy_ns
FROM memcpy
WHERE process_id = $process_id AND direction = 'host_to_device' AND memory = 'pageable'
GROUP BY operation HAVING SUM("count") > 0
ORDER BY bytes DESC, operation

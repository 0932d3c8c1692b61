-- Copies of a process ($process_id) from pageable memory to the GPU, by operation. Where GPU work was
-- recorded in windows, estimates for the whole loop.
-- uses: work_factor
SELECT operation, CAST(SUM("count" * COALESCE(factor, 1)) AS BIGINT) AS copies,
  CAST(SUM(bytes * COALESCE(factor, 1)) AS BIGINT) AS bytes,
  CAST(SUM(duration_ns * COALESCE(factor, 1)) AS BIGINT) AS copy_ns
FROM memcpy LEFT JOIN work_factor USING (process_id, operation)
WHERE process_id = $process_id AND direction = 'host_to_device' AND memory = 'pageable'
GROUP BY operation HAVING SUM("count") > 0
ORDER BY bytes DESC, operation

-- The critical process of the $iterations longest of these iterations (critical_process.sql), the longest
-- first.
--   process, critical  names
--   critical_ns        the part of duration_ns that belongs to the critical process
-- uses: iteration_share
SELECT process_id, process.name AS process, iteration, duration_ns, critical_id,
  critical.name AS critical, CAST(time_ns AS BIGINT) AS critical_ns
FROM iteration_share JOIN process USING (process_id)
  JOIN process AS critical ON critical.process_id = critical_id
WHERE place = 1
ORDER BY duration_ns DESC, process_id, iteration
LIMIT $iterations

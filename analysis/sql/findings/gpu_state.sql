-- What a process ($process_id) that uses a GPU does in its training loop, by operation: no rows if it uses
-- none, or if its GPU work was not recorded.
--   reason   as in relation idle
--   busy_ns  time in which GPU work of the process ran; idle_ns: in which none did
-- uses: known_idle
SELECT operation, reason,
  CAST(COALESCE(SUM(duration_ns) FILTER (gpu_busy), 0) AS BIGINT) AS busy_ns,
  CAST(COALESCE(SUM(duration_ns) FILTER (NOT gpu_busy), 0) AS BIGINT) AS idle_ns
FROM known_idle
WHERE process_id = $process_id AND stage = 'loop' AND gpu_busy IS NOT NULL
  AND EXISTS (FROM gpu_time WHERE gpu_time.process_id = $process_id)
GROUP BY operation, reason
ORDER BY SUM(duration_ns) DESC, operation, reason

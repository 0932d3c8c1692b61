-- The longest calls, waits and CUDA calls that lie in an interval of a thread: what an outlier was. Of
-- one that holds others there is its own row, and theirs.
SELECT kind, name, layer, start_ns, duration_ns FROM event
WHERE process_id = $process AND thread_id = $thread AND kind IN ('call', 'wait', 'cuda_call')
  AND start_ns >= $start_ns AND start_ns + duration_ns <= $end_ns
ORDER BY duration_ns DESC, start_ns, kind, name
LIMIT $rows

-- Calls of a process ($process_id) that get memory of the GPU, or give it back, by operation.
--   given     calls that give memory back
--   loop_ns   time of the training loop in such calls (reason allocation of relation idle)
WITH _call AS (
  SELECT operation, SUM(calls) AS calls,
    COALESCE(SUM(calls) FILTER (regexp_matches(name, 'Free|Unmap|Release')), 0) AS given
  FROM api_call
  WHERE process_id = $process_id AND regexp_matches(name, 'Malloc|Alloc|Free|MemCreate|Map|Release')
    AND NOT regexp_matches(name, 'Async')
  GROUP BY operation
), _time AS (
  SELECT operation, SUM(duration_ns) AS loop_ns FROM idle
  WHERE process_id = $process_id AND stage = 'loop' AND reason = 'allocation' GROUP BY operation
)
SELECT operation, CAST(calls AS BIGINT) AS calls, CAST(given AS BIGINT) AS given,
  CAST(loop_ns AS BIGINT) AS loop_ns
FROM _call JOIN _time USING (operation)
ORDER BY loop_ns DESC, operation

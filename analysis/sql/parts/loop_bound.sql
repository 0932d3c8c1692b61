-- When the training loop of each process that counts in shares begins and ends.
--   between_ns  time between operations in it
--   part_ns     at least 1/4096 of the loop
-- uses: counted_process
WITH _loop AS (
  SELECT process_id,
    start_ns + CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'start-up'), 0) AS BIGINT) AS from_ns,
    end_ns - CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'end'), 0) AS BIGINT) AS until_ns,
    COALESCE(SUM(duration_ns) FILTER (stage = 'loop' AND operation = '(none)'), 0) AS between_ns
  FROM breakdown JOIN process USING (process_id)
  WHERE process_id IN (FROM counted_process)
  GROUP BY process_id, start_ns, end_ns HAVING BOOL_OR(stage = 'loop')
)
SELECT *, GREATEST((until_ns - from_ns) // 4096, 1) AS part_ns FROM _loop

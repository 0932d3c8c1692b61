-- What the interpreter ran after the training loops of the processes that count in shares: joining its
-- threads, and exit functions that took a millisecond or more.
--   what        threads or exit function
--   function    NULL: threads
-- Parts may hold operations that the program ran in them.
-- uses: loop_bound
WITH _part AS (
  SELECT process_id, UNNEST(from_json(value, '[["JSON"]]')) AS part
  FROM metadata WHERE key = 'rlscope.ending' AND json_valid(value)
), _read AS (
  SELECT process_id, part[1]->>'$' AS what, NULLIF(part[2]->>'$', '') AS function,
    TRY_CAST(part[3]->>'$' AS BIGINT) AS begin_ns, TRY_CAST(part[4]->>'$' AS BIGINT) AS duration_ns
  FROM _part
)
SELECT what, function, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM _read JOIN loop_bound USING (process_id)
WHERE begin_ns >= until_ns AND duration_ns > 0
GROUP BY what, function ORDER BY duration_ns DESC, what, function
LIMIT $rows

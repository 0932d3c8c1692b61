-- Processes whose first steps returned one reward each: they step one environment at a time.
--   steps  that told
WITH _reward AS (
  SELECT process_id, CAST(value ->> 0 AS BIGINT) AS steps, CAST(value ->> 1 AS BIGINT) AS of_several FROM metadata
  WHERE key = 'rlscope.rewards' AND json_valid(value)
)
SELECT process_id, steps FROM _reward WHERE steps > 0 AND of_several = 0

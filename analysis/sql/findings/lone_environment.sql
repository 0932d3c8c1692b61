-- The operation of inference ($operations) that takes most of the loop of a process ($process_id), if each
-- of the first steps of the process returned one reward: it steps one environment at a time.
--   steps  that told
WITH _reward AS (
  SELECT CAST(value ->> 0 AS BIGINT) AS steps, CAST(value ->> 1 AS BIGINT) AS of_several FROM metadata
  WHERE process_id = $process_id AND key = 'rlscope.rewards' AND json_valid(value)
)
SELECT operation, CAST(SUM(duration_ns) AS BIGINT) AS inference_ns, steps
FROM training_loop CROSS JOIN _reward
WHERE process_id = $process_id AND operation IN (SELECT UNNEST($operations))
  AND steps > 0 AND of_several = 0
GROUP BY operation, steps ORDER BY inference_ns DESC, operation LIMIT 1

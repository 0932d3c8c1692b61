-- The operation of inference ($operations) that takes most of the loop of a process ($process_id), if each
-- of the first steps of the process returned one reward.
--   steps  that told
-- uses: one_reward
SELECT operation, CAST(SUM(duration_ns) AS BIGINT) AS inference_ns, steps
FROM training_loop JOIN one_reward USING (process_id)
WHERE process_id = $process_id AND operation IN (SELECT UNNEST($operations))
GROUP BY operation, steps ORDER BY inference_ns DESC, operation LIMIT 1

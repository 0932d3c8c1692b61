-- Wall time in the training loop of each process that counts, of every operation by layer and GPU
-- activity, as recorded and without what recording cost, with the 95 % interval of that.
--   corrected_ns and the ends of its interval: NULL where of some of it no cost is known
--   gpu_busy   NULL where GPU work was not recorded
SELECT process_id, operation, layer, gpu_busy,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(IF(COUNT(corrected_ns) = COUNT(*), SUM(corrected_ns), NULL) AS BIGINT) AS corrected_ns,
  CAST(IF(COUNT(corrected_low_ns) = COUNT(*), SUM(corrected_low_ns), NULL) AS BIGINT) AS corrected_low_ns,
  CAST(IF(COUNT(corrected_high_ns) = COUNT(*), SUM(corrected_high_ns), NULL) AS BIGINT) AS corrected_high_ns
FROM training_loop
GROUP BY ALL
ORDER BY process_id, duration_ns DESC, operation, layer, gpu_busy

-- Where the training loop of a process ($process_id) is, by operation and layer.
--   operation     (none): between operations
--   corrected_ns  without what recording cost; NULL: of some of it no cost is known
SELECT IF(operation = '(between operations)', '(none)', operation) AS operation, layer,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(IF(COUNT(corrected_ns) = COUNT(*), SUM(corrected_ns), NULL) AS BIGINT) AS corrected_ns
FROM training_loop WHERE process_id = $process_id
GROUP BY 1, 2 ORDER BY duration_ns DESC, operation, layer

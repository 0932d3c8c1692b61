-- How much of the time of each state of a process is left without what recording cost.
--   kept  a share; NULL where no cost is known
SELECT process_id, stage, operation, layer,
  IF(COUNT(*) = COUNT(corrected_ns), SUM(corrected_ns), NULL) / SUM(duration_ns) AS kept
FROM breakdown
GROUP BY ALL
HAVING SUM(duration_ns) > 0

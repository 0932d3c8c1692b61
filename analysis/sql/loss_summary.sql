-- Losses of the whole run by kind, the most frequent first.
--   processes  in how many processes
--   detail     one example
SELECT kind, CAST(SUM(count) AS BIGINT) AS count, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  COUNT(DISTINCT process_id) AS processes, ANY_VALUE(NULLIF(detail, '')) AS detail
FROM loss
GROUP BY kind
HAVING SUM(count) > 0 OR SUM(duration_ns) > 0
ORDER BY count DESC, kind
LIMIT $rows

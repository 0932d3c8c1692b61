-- Losses of the whole run by kind, the most frequent first, with all that is known of each.
SELECT kind, CAST(SUM("count") AS BIGINT) AS "count",
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  LIST(DISTINCT detail ORDER BY detail) FILTER (detail <> '') AS details
FROM loss GROUP BY kind ORDER BY "count" DESC, kind

-- About how many rows relation event has, without making it: one row.
SELECT CAST((SELECT COALESCE(SUM(calls), 0) FROM native_call)
  + (SELECT COALESCE(SUM(calls), 0) FROM api_call)
  + (SELECT COALESCE(SUM("count"), 0) FROM kernel) AS BIGINT) AS intervals

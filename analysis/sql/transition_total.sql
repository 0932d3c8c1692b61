-- Crossings between layers, added up over processes. per_iteration adds the processes' own rates,
-- so a rate of two workers is the crossings of both in the time of one pass of each.
SELECT
  operation,
  from_layer,
  to_layer,
  sum("count")::BIGINT AS "count",
  sum(per_iteration) AS per_iteration
FROM transition
GROUP BY operation, from_layer, to_layer
ORDER BY "count" DESC, operation, from_layer, to_layer

-- Placed intervals with the text that a viewer shows: an operation's own name, since the slice around it
-- has the rest of its path, and a kernel's as its source spells it.
-- uses: placed_interval
SELECT
  placed_interval.*,
  CASE
    WHEN kind = 'operation' THEN coalesce(own_name, placed_interval.name)
    WHEN coalesce(placed_interval.name, '') = '' THEN kind
    ELSE coalesce(function, placed_interval.name)
  END AS text
FROM placed_interval
LEFT JOIN (SELECT operation_id, name AS own_name FROM operation) USING (operation_id)
LEFT JOIN (
  SELECT name, 'kernel' AS kind, any_value(function) AS function FROM kernel GROUP BY name
) USING (name, kind)

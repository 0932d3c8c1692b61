-- Rows of the relation $relation that touch the window from $from_ns up to $until_ns, whole. A row
-- contains its start and not its end; how long it lasts is its column $length.
FROM query_table($relation)
WHERE start_ns < $until_ns
  AND (start_ns >= $from_ns OR start_ns + COLUMNS(name -> name = $length) > $from_ns)

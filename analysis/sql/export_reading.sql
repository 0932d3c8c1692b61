-- The same of a relation whose rows have no length.
FROM query_table($relation)
WHERE start_ns >= $from_ns AND start_ns < $until_ns

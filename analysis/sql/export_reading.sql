-- The same of a relation whose rows have no length.
FROM query_table(getvariable('relation'))
WHERE start_ns >= getvariable('from_ns') AND start_ns < getvariable('until_ns')

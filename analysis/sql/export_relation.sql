-- All rows of the relation that variable `relation` names.
FROM query_table(getvariable('relation'))

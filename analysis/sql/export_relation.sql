-- All rows of the relation $relation.
FROM query_table($relation)

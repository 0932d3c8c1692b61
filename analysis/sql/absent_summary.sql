-- Columns that the trace cannot fill: those of a relation with the same reason in one row.
SELECT relation, STRING_AGG(column_name, ', ' ORDER BY column_name) AS columns, reason
FROM absent
GROUP BY relation, reason
ORDER BY relation, columns
LIMIT $rows

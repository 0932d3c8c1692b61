-- Relations and columns that the trace cannot fill, by the reason.
SELECT reason,
  STRING_AGG(relation || CASE column_name WHEN '*' THEN '' ELSE '.' || column_name END, ', ')
    AS what
FROM absent GROUP BY reason ORDER BY what

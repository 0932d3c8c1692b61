-- Rows of relation iteration_breakdown of the iterations that touch the window from `from_ns` up to
-- `until_ns`. DuckDB keeps the order of a relation, but not in a join.
SELECT * EXCLUDE (place)
FROM (SELECT *, ROW_NUMBER() OVER () AS place FROM iteration_breakdown)
SEMI JOIN (
  FROM iteration
  WHERE start_ns < getvariable('until_ns')
    AND (
      start_ns >= getvariable('from_ns') OR start_ns + duration_ns > getvariable('from_ns')
    )
) USING (process_id, iteration)
ORDER BY place

-- Rows of the relation that variable `relation` names, if they touch the window from `from_ns` up to
-- `until_ns`, whole. A row contains its start and not its end; how long it lasts is its column `length`.
FROM query_table(getvariable('relation'))
WHERE start_ns < getvariable('until_ns')
  AND (
    start_ns >= getvariable('from_ns')
    OR start_ns + COLUMNS(name -> name = getvariable('length')) > getvariable('from_ns')
  )

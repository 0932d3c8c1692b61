-- How many calls that may wait, and picklings, came back within 5 us and left no record: they are in
-- no count of calls. At least: threads that no row of `overhead` shows are left out.
SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) AS calls FROM overhead WHERE kind = 'short wait'

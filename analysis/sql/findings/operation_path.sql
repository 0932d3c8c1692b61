-- The operations of all processes, by path.
SELECT DISTINCT path FROM operation ORDER BY path

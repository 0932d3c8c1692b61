-- Interpreters of the run, and how many processes each ran.
SELECT python, COUNT(*) AS processes
FROM process
WHERE python IS NOT NULL
GROUP BY python
ORDER BY processes DESC, python
LIMIT $rows

-- How much was recorded.
SELECT COUNT(*) AS processes, SUM(events) AS events, SUM(file_bytes) AS file_bytes FROM process

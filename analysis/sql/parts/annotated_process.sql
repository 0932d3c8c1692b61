-- process_id of the processes that have operations.
SELECT DISTINCT process_id FROM breakdown
WHERE operation NOT IN ('(none)', '(not recorded)')

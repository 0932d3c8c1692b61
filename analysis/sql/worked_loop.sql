-- worked_ns: wall time of the loop of a process ($process_id), without its waits.
SELECT CAST(COALESCE(SUM(duration_ns), 0) AS BIGINT) AS worked_ns FROM breakdown
WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND layer <> 'wait'
  AND operation <> '(not recorded)'

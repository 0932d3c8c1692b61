SELECT (timeline.start_ns - run.start_ns) // 1024 * 1024 AS began_ns,
  count(DISTINCT process_id) AS processes, sum(duration_ns) AS ns,
  sum(duration_ns) FILTER (operation LIKE 'update%') AS update_ns
FROM timeline, run WHERE "level" = 0 GROUP BY began_ns ORDER BY began_ns

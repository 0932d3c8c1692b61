SELECT iteration, start_ns - (SELECT start_ns FROM run) AS began_ns, duration_ns, complete, source
FROM iteration ORDER BY iteration

-- Time of each operation that the program annotates, in each iteration.
SELECT process_id, iteration, operation, CAST(SUM(duration_ns) AS BIGINT) AS ns
FROM iteration_breakdown WHERE source = 'explicit' AND iteration IS NOT NULL
GROUP BY ALL

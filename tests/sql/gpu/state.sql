SELECT operation, layer != 'none' AS cpu, gpu_busy, sum(duration_ns) AS duration_ns
FROM breakdown GROUP BY ALL ORDER BY ALL

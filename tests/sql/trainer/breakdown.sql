SELECT stage, phase, operation, layer, gpu_busy, duration_ns, "count", overhead_ns
FROM breakdown ORDER BY ALL

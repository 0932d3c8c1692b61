SELECT stage, operation, layer, gpu_busy, duration_ns FROM breakdown ORDER BY ALL

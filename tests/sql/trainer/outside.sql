-- Outside operations: before the first one at 2 us, between the two updates, after the last one.
SELECT part, layer, gpu_busy, duration_ns FROM outside ORDER BY ALL

SELECT phase, operation, layer, gpu_busy, duration_ns, "count" FROM breakdown WHERE process_id = 2

SELECT function, layer, operation, calls, duration_ns, self_ns FROM native_call

SELECT kind, layer, event.name, event.start_ns - run.start_ns AS began_ns, duration_ns, stream
FROM event, run WHERE kind != 'operation' ORDER BY began_ns

SELECT kind, layer, event.name, event.start_ns - run.start_ns AS began_ns, duration_ns
FROM event, run ORDER BY began_ns, duration_ns

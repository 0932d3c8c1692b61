SELECT phase.name, phase.start_ns - run.start_ns AS began_ns, duration_ns FROM phase, run

SELECT w.start_ns - run.start_ns AS began_ns, duration_ns FROM recording_window AS w, run ORDER BY 1

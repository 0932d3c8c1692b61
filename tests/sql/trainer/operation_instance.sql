SELECT path, iteration, i.start_ns - run.start_ns AS began_ns, duration_ns, self_ns, ended
FROM operation_instance AS i JOIN operation USING (operation_id), run
ORDER BY began_ns, path

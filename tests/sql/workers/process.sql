SELECT process_id, os_pid, process.start_ns - run.start_ns AS began_ns,
       process.end_ns - process.start_ns AS wall_ns, python, ended
FROM process, run ORDER BY process_id

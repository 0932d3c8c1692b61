-- Every process with its size, in the order of their ids.
SELECT process_id, parent_process_id AS parent, os_pid, name, python, ended, exit,
  end_ns - start_ns AS wall_ns, cpu_ns, events, file_bytes
FROM process ORDER BY process_id

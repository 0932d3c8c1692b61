-- What processes are called.
SELECT process_id, name, os_pid FROM process ORDER BY process_id

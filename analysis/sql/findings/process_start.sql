-- How many processes a process ($process_id) started in its training loop.
SELECT COUNT(*) AS started FROM process CROSS JOIN (
  SELECT MIN(start_ns) AS begin_ns, MAX(start_ns) AS last_ns
  FROM operation_instance WHERE process_id = $process_id
) AS loop
WHERE parent_process_id = $process_id AND process.start_ns BETWEEN begin_ns AND last_ns

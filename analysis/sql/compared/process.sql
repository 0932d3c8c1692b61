-- The processes of a run, the one with the longest life first.
--   run_ns  wall time of the run
SELECT process_id, name, cpu_ns, (SELECT MAX(end_ns) - MIN(start_ns) FROM run) AS run_ns
FROM process
ORDER BY process_id NOT IN (SELECT process_id FROM training_loop), end_ns - start_ns DESC, process_id

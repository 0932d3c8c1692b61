-- When the complete iterations of each process ended, in CLOCK_MONOTONIC.
SELECT os_pid, process_id, iteration, iteration.start_ns + duration_ns AS end_ns
FROM iteration JOIN process USING (process_id) WHERE complete

-- process_id of the processes whose ids of the system are in the list $os_pids; NULL: of all.
SELECT process_id FROM process WHERE $os_pids IS NULL OR list_contains($os_pids, os_pid)

-- Waits that say what a process waits for: those in operations, and between them those of one thread.
-- uses: described_thread, paired_wait
SELECT wait.* FROM paired_wait AS wait LEFT JOIN described_thread AS described USING (process_id)
WHERE operation <> '(none)' OR wait.thread_id IS NOT DISTINCT FROM
  COALESCE(described.thread_id, wait.thread_id)

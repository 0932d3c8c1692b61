-- CPU time of the only thread of Python that a process ($process_id) has beside its first one.
--   running_ns  NULL: it has none, or several
WITH _beside AS (
  SELECT running_ns FROM thread
  WHERE process_id = $process_id AND is_python
    AND thread_id <> (SELECT ARG_MIN(thread_id, start_ns) FROM thread WHERE process_id = $process_id)
)
SELECT IF(COUNT(*) = 1, MAX(running_ns), NULL) AS running_ns FROM _beside

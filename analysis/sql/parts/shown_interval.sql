-- Intervals that a timeline of the run shows, from $from_ns up to $until_ns, whole, with the kind of
-- track that each is on: those of relation event; iterations, phases, and gaps between windows of a
-- process. A synchronisation, and CUPTI's own work, are not work of a stream.
--   linked_id  correlation of a launch and of its work
WITH interval AS (
  SELECT
    process_id,
    CASE
      WHEN thread_id IS NOT NULL THEN 'thread'
      WHEN kind IN ('sync', 'overhead') THEN kind
      ELSE 'stream'
    END AS track_kind,
    thread_id,
    CASE WHEN kind NOT IN ('sync', 'overhead') THEN device END AS device,
    CASE WHEN kind NOT IN ('sync', 'overhead') THEN stream END AS stream,
    kind,
    layer,
    name,
    start_ns,
    duration_ns,
    operation_id,
    correlation_id,
    CASE WHEN kind NOT IN ('sync', 'overhead') THEN nullif(correlation_id, 0) END AS linked_id,
    bytes,
    graph
  FROM event
  UNION ALL BY NAME
  SELECT
    process_id, 'iteration' AS track_kind, 'iteration' AS kind, 'iteration ' || iteration AS name,
    start_ns, duration_ns
  FROM iteration
  UNION ALL BY NAME
  SELECT process_id, 'phase' AS track_kind, 'phase' AS kind, name, start_ns, duration_ns FROM phase
  UNION ALL BY NAME
  SELECT
    process_id, 'gap' AS track_kind, 'gap' AS kind, '(not recorded)' AS name,
    start_ns + duration_ns AS start_ns, next_ns - start_ns - duration_ns AS duration_ns
  FROM (
    SELECT *, lead(start_ns) OVER (PARTITION BY process_id ORDER BY start_ns) AS next_ns
    FROM recording_window
  )
  WHERE next_ns > start_ns + duration_ns
)
SELECT *
FROM interval
WHERE start_ns < $until_ns AND (start_ns + duration_ns > $from_ns OR start_ns >= $from_ns)

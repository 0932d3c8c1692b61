-- The slices of some tracks that begin in a part of the time, cut at the edges of the window: by track
-- and start, and of one start the outer ones first. -1: has none. Tables track, shown_name and flow
-- are those that export_track, export_name and export_flow made.
-- uses: named_interval
WITH wanted AS (
  SELECT * FROM named_interval
  WHERE track BETWEEN $first_track AND $last_track AND start_ns >= $begin_ns AND start_ns < $end_ns
), slice AS (
  SELECT
    track,
    greatest(start_ns, $from_ns) AS start_ns,
    least(start_ns + duration_ns, $until_ns) AS end_ns,
    CASE WHEN kind = 'operation' OR thread_id IS NULL THEN kind ELSE layer END AS category,
    shown_name.name,
    coalesce(flow, 0) AS flow,
    CASE WHEN track_kind IN ('stream', 'sync') THEN operation_id END AS operation,
    nullif(correlation_id, 0) AS correlation,
    nullif(bytes, 0) AS bytes,
    nullif(graph, 0) AS graph,
    start_ns AS whole_start_ns,
    start_ns + duration_ns AS whole_end_ns,
    list_position(['operation', 'call', 'wait', 'callback', 'cuda_call'], kind) AS depth
  FROM wanted
  JOIN shown_name USING (text)
  LEFT JOIN flow USING (process_id, linked_id)
)
SELECT
  track,
  start_ns,
  end_ns,
  list_position($categories, category) - 1 AS category,
  name,
  flow,
  coalesce(operation, -1) AS operation,
  coalesce(correlation, -1) AS correlation,
  coalesce(bytes, -1) AS bytes,
  coalesce(graph, -1) AS graph,
  whole_start_ns,
  whole_end_ns
FROM slice
ORDER BY
  track, slice.start_ns, slice.end_ns DESC, whole_start_ns, whole_end_ns DESC, depth, slice.name

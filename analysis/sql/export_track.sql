-- The tracks of a timeline: threads, CUDA streams, and what else a process has intervals of, with
-- their number.
-- uses: shown_interval
SELECT
  row_number() OVER (
    ORDER BY
      process_id,
      list_position(
        ['thread', 'stream', 'sync', 'overhead', 'iteration', 'phase', 'gap'], track_kind
      ),
      thread_id,
      device,
      stream
  ) - 1 AS track,
  *
FROM (
  SELECT process_id, track_kind, thread_id, device, stream, count(*) AS intervals
  FROM shown_interval
  GROUP BY ALL
)

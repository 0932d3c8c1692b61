-- Times that divide the intervals of a track into parts of about the same number.
-- uses: shown_interval
SELECT DISTINCT unnest(approx_quantile(start_ns, $shares::FLOAT[])) AS start_ns
FROM shown_interval
JOIN track
  ON track.process_id = shown_interval.process_id
  AND track.track_kind = shown_interval.track_kind
  AND track.thread_id IS NOT DISTINCT FROM shown_interval.thread_id
  AND track.device IS NOT DISTINCT FROM shown_interval.device
  AND track.stream IS NOT DISTINCT FROM shown_interval.stream
WHERE track = $track
ORDER BY start_ns

-- Shown intervals with the track that each is on, of table track, which export_track makes.
-- uses: shown_interval
SELECT shown_interval.*, track
FROM shown_interval
JOIN track
  ON track.process_id = shown_interval.process_id
  AND track.track_kind = shown_interval.track_kind
  AND track.thread_id IS NOT DISTINCT FROM shown_interval.thread_id
  AND track.device IS NOT DISTINCT FROM shown_interval.device
  AND track.stream IS NOT DISTINCT FROM shown_interval.stream

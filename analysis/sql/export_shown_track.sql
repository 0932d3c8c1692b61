-- The tracks of table track, which export_track made, in their order.
SELECT track, process_id, track_kind, thread_id, device, stream, intervals FROM track ORDER BY track

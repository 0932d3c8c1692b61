-- Times that divide the intervals of a track into parts of about the same number.
-- uses: placed_interval
SELECT DISTINCT unnest(approx_quantile(start_ns, $shares::FLOAT[])) AS start_ns
FROM placed_interval
WHERE track = $track
ORDER BY start_ns

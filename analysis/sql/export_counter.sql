-- The readings of one quantity from $from_ns up to $until_ns, with the one that holds when the window
-- begins.
-- uses: reading
WITH held AS (
  SELECT start_ns AS read_ns, value, lead(start_ns) OVER (ORDER BY start_ns) AS next_ns
  FROM reading
  WHERE
    host_id = $host_id
    AND process_id IS NOT DISTINCT FROM $process_id
    AND metric = $metric
)
SELECT greatest(read_ns, $from_ns) AS start_ns, value
FROM held
WHERE read_ns < $until_ns AND (read_ns >= $from_ns OR next_ns > $from_ns)
ORDER BY read_ns

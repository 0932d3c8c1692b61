-- Where recording stopped before the program did: cut, in all processes at once, and no_drainer, in
-- some of them.
--   after_ns   from the start of the run to the cut; of several the first
--   left_ns    for how long a process went on; of several the longest
SELECT kind, MIN(CASE kind WHEN 'cut' THEN COALESCE(run.cut_ns, process.end_ns)
                           ELSE process.end_ns END) - MIN(run.start_ns) AS after_ns,
  CAST(MAX(loss.duration_ns) AS BIGINT) AS left_ns, COUNT(DISTINCT process_id) AS processes,
  ANY_VALUE(NULLIF(loss.detail, '')) AS reason
FROM loss JOIN process USING (process_id) CROSS JOIN run
WHERE kind IN ('cut', 'no_drainer')
GROUP BY kind
ORDER BY after_ns, kind

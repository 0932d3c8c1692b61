-- Lines of the program's own in a process ($process_id) that calls views of MuJoCo by names, in operations of
-- its training loop, with all layers: the longest first.
--   own_ns    with below_ns2 and above_ns2, the squared distances to the ends of its interval
--   calls, calls_ns  of the views, in the whole of the process
WITH _call AS (
  SELECT SUM(calls) AS all_calls, SUM(duration_ns) AS calls_ns FROM native_call
  WHERE process_id = $process_id
    AND regexp_matches(function, '^mujoco\._structs:(Mj(Data|Model)\.[a-z]+|_Mj\w+Views\.\w+)$')
)
SELECT file, line, operation, CAST(SUM(own_ns) AS DOUBLE) AS own_ns,
  CAST(SUM(POW(own_ns - own_low_ns, 2)) AS DOUBLE) AS below_ns2,
  CAST(SUM(POW(own_high_ns - own_ns, 2)) AS DOUBLE) AS above_ns2,
  CAST(ANY_VALUE(all_calls) AS BIGINT) AS calls, CAST(ANY_VALUE(calls_ns) AS BIGINT) AS calls_ns
FROM source_line CROSS JOIN _call
WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND is_own AND line IS NOT NULL
  AND layer IN ('python', 'simulator') AND all_calls > 0
GROUP BY file, line, operation HAVING SUM(own_ns) > 0
ORDER BY own_ns DESC, file, line, operation

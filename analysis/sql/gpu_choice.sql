-- What each process chose to record of its GPU work with --gpu-share auto, in order, and why.
--   recorded        all or windows
--   why             few_launches, many_launches, graphs, cheap; NULL: windows were not possible, see problem
--   launches_per_s  in the stretch before the choice; slower_high: the upper end of what an iteration in a window
--                   took more, as a part; each NULL: not looked at
--   after_ns        from the begin of the process to the choice
WITH _choice AS (
  SELECT process_id, UNNEST(FROM_JSON(value,
    '[{"at_ns": "BIGINT", "recorded": "VARCHAR", "why": "VARCHAR", "launches_per_s": "DOUBLE", '
    '"slower_high": "DOUBLE"}]')) AS each, CAST(NULL AS VARCHAR) AS problem
  FROM metadata WHERE key = 'gpu_share' AND json_valid(value)
), _row AS (
  SELECT process_id, each.at_ns AS at_ns, each.recorded AS recorded, each.why AS why,
    each.launches_per_s AS launches_per_s, each.slower_high AS slower_high, problem
  FROM _choice
  UNION ALL
  SELECT process_id, NULL, 'all', NULL, NULL, NULL, json_extract_string(value, '$.gpu_share')
  FROM (SELECT process_id, IF(json_valid(value), value, NULL) AS value FROM metadata
        WHERE key = 'cuda')
  WHERE json_extract_string(value, '$.gpu_share') IS NOT NULL
)
SELECT process_id, name, recorded, why, launches_per_s, slower_high, at_ns - start_ns AS after_ns,
  problem
FROM _row LEFT JOIN process USING (process_id)
ORDER BY process_id, at_ns

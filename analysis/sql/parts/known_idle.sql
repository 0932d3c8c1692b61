-- Relation idle, with the state of the GPU known everywhere. Where GPU work was recorded in windows, what those
-- have of an operation's time in a layer stands for the time outside of them. So do the reasons, because the
-- direction of a copy is known in windows only. If no window has any of it, gpu_busy stays NULL.
-- uses: call_coverage
WITH _sum AS (
  SELECT idle.*, SUM(duration_ns) FILTER (is_sample) OVER _place AS sample_ns,
    SUM(duration_ns) FILTER (gpu_busy IS NULL) OVER _place AS unknown_ns
  FROM idle CROSS JOIN call_coverage
  WINDOW _place AS (
    PARTITION BY process_id, stage, operation, source, IF(calls_everywhere, layer, NULL))
)
SELECT process_id, stage, operation, source, layer, gpu_busy, reason,
  IF(is_sample AND unknown_ns > 0, duration_ns * (1 + unknown_ns / sample_ns), duration_ns)
    AS duration_ns
FROM _sum WHERE gpu_busy IS NOT NULL OR sample_ns IS NULL

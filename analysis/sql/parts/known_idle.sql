-- Relation idle, with the state of the GPU known everywhere. Where GPU work was recorded in windows, what is
-- known of an operation's time in a layer stands for the rest of it. So do the reasons, because the
-- direction of a copy is known in windows only. If no window has any of it, gpu_busy stays NULL.
-- uses: call_coverage
WITH _sum AS (
  SELECT idle.*, SUM(duration_ns) OVER _place AS whole_ns,
    SUM(duration_ns) FILTER (gpu_busy IS NOT NULL) OVER _place AS known_ns
  FROM idle, call_coverage
  WINDOW _place AS (
    PARTITION BY process_id, stage, operation, source, IF(calls_everywhere, layer, NULL))
)
SELECT process_id, stage, operation, source, layer, gpu_busy, reason,
  IF(known_ns < whole_ns, duration_ns * (whole_ns / known_ns), duration_ns) AS duration_ns
FROM _sum WHERE gpu_busy IS NOT NULL OR known_ns IS NULL

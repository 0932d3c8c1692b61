-- What the correction takes out of the time of some processes, with the ends of its interval, and how
-- the cost of most records was measured. It is CPU time: what is taken out beside GPU work is no time
-- of the process any more, even though the GPU alone has it then; and a thread that waits for room in
-- its ring sleeps.
-- uses: chosen_process
WITH _slept AS (
  SELECT COALESCE(SUM(overhead_ns), 0) AS ns FROM overhead JOIN chosen_process USING (process_id)
  WHERE kind = 'ring wait'
)
SELECT CAST(SUM(duration_ns - corrected_ns) - ANY_VALUE(_slept.ns) AS DOUBLE) AS mean,
  CAST(SUM(duration_ns - corrected_high_ns) - ANY_VALUE(_slept.ns) AS DOUBLE) AS low,
  CAST(SUM(duration_ns - corrected_low_ns) - ANY_VALUE(_slept.ns) AS DOUBLE) AS high,
  (SELECT method FROM calibration JOIN overhead USING (kind) WHERE samples > 0
    GROUP BY method ORDER BY SUM(overhead_ns) DESC LIMIT 1) AS method
FROM breakdown JOIN chosen_process USING (process_id) CROSS JOIN _slept
WHERE NOT (layer = 'none' AND COALESCE(gpu_busy, FALSE))

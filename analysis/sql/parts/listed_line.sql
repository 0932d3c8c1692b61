-- The $lines hottest lines of the program's own code in the training loops: those that matter.
--   own_low_ns, own_high_ns  ends of the interval of a sum of independent estimates (Zou and Donner,
--                            "Construction of confidence limits about effect measures", 2008)
-- uses: line_time, line_gpu, line_backward
WITH _gpu AS (
  SELECT file, line, SUM(gpu_ns) AS gpu_ns FROM line_gpu GROUP BY ALL
), _time AS (
  SELECT file, line, SUM(own_ns) AS own_ns, SQRT(SUM(below_ns2)) AS below_ns,
    SQRT(SUM(above_ns2)) AS above_ns, SUM(total_ns) AS total_ns,
    IF(COUNT(*) = COUNT(own_corrected_ns), SUM(own_corrected_ns), NULL) AS own_corrected_ns,
    COALESCE(SUM(own_ns) FILTER (layer = 'wait'), 0) AS wait_ns
  FROM line_time
  GROUP BY ALL
), _line AS (
  SELECT file, line, COALESCE(own_ns, 0) AS own_ns,
    IF(own_ns IS NULL, 0, own_corrected_ns) AS own_corrected_ns, COALESCE(below_ns, 0) AS below_ns,
    COALESCE(above_ns, 0) AS above_ns, COALESCE(total_ns, 0) AS total_ns,
    COALESCE(wait_ns, 0) AS wait_ns, COALESCE(gpu_ns, 0) AS gpu_ns,
    COALESCE(backward_ns, 0) AS backward_ns
  FROM _time FULL JOIN _gpu USING (file, line) FULL JOIN line_backward USING (file, line)
)
SELECT *, own_ns - below_ns AS own_low_ns, own_ns + above_ns AS own_high_ns,
  (SELECT SUM(duration_ns) FROM training_loop) AS loop_ns
FROM _line
WHERE own_ns >= 0.001 * loop_ns OR total_ns >= 0.01 * loop_ns OR gpu_ns >= 0.01 * loop_ns
  OR backward_ns >= 0.01 * loop_ns
ORDER BY own_ns DESC, total_ns DESC, gpu_ns DESC, backward_ns DESC, file, line
LIMIT $lines

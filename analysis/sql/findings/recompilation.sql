-- Functions that a process ($process_id) compiled after its first update, by line, the longest
-- first. The first time that it compiles one is not again.
--   again_ns   of compiling
--   again      how often
--   first_ns   by how much longer than usual the operation takes that follows a compilation, as the first call
--              of what was compiled; the median
WITH _instance AS (
  SELECT path, self_ns, LEAD(path) OVER _in_order AS next_path, LEAD(self_ns) OVER _in_order AS next_ns
  FROM operation_instance JOIN operation USING (operation_id) WHERE process_id = $process_id
  WINDOW _in_order AS (PARTITION BY thread_id ORDER BY start_ns)
), _usual AS (
  SELECT path AS next_path, MEDIAN(self_ns) AS usual_ns FROM _instance GROUP BY path
), _first AS (
  SELECT COALESCE(MEDIAN(GREATEST(next_ns - usual_ns, 0)), 0) AS first_ns
  FROM _instance JOIN _usual USING (next_path) WHERE path = 'compilation'
), _again AS (
  SELECT *, count - GREATEST(early_count, 1) AS again,
    (total_ns - early_ns)
      * (1 - CASE WHEN early_count = 0 THEN 1.0 / count ELSE 0 END) AS again_ns
  FROM compilation WHERE process_id = $process_id AND count > early_count
)
SELECT compiler, function, file, line, count, count - early_count AS late_count, again, again_ns,
  CAST(first_ns AS BIGINT) AS first_ns, total_ns
FROM _again CROSS JOIN _first ORDER BY again_ns DESC, file, line, function

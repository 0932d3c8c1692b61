-- The longest entry into each operation of the training loop of a process ($process_id), where it is as
-- long as $least_ns, or longer.
--   entries, median_ns, sum_ns  of all entries in iterations, their own time
--   second_ns                   of the longest one but it
--   longest_ns, place           of the longest one; place: which of the entries it is, from 1 on
WITH _longest AS (
  SELECT operation_id, path AS operation, COUNT(*) AS entries, SUM(self_ns) AS sum_ns,
    MAX(self_ns) AS longest_ns, ARG_MAX(start_ns, self_ns) AS longest_start_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id
    AND path IN (SELECT operation FROM training_loop WHERE process_id = $process_id)
  GROUP BY operation_id, path HAVING MAX(self_ns) >= $least_ns
)
SELECT operation, ANY_VALUE(entries) AS entries, CAST(MEDIAN(self_ns) AS BIGINT) AS median_ns,
  CAST(ANY_VALUE(sum_ns) AS BIGINT) AS sum_ns,
  COALESCE(MAX(self_ns) FILTER (start_ns <> longest_start_ns), 0) AS second_ns,
  ANY_VALUE(longest_ns) AS longest_ns,
  COUNT(*) FILTER (start_ns <= longest_start_ns) AS place
FROM operation_instance JOIN _longest USING (operation_id)
WHERE process_id = $process_id
GROUP BY operation ORDER BY longest_ns DESC, operation

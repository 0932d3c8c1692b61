-- The longest entry into each operation of the training loop of a process ($process_id).
--   entries, median_ns, sum_ns  of all entries in iterations, their own time
--   longest_ns, place           of the longest one; place: which of the entries it is, from 1 on
WITH _entry AS (
  SELECT path AS operation, self_ns,
    ROW_NUMBER() OVER (PARTITION BY path ORDER BY start_ns) AS place
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id
    AND path IN (SELECT operation FROM training_loop WHERE process_id = $process_id)
)
SELECT operation, COUNT(*) AS entries, CAST(MEDIAN(self_ns) AS BIGINT) AS median_ns,
  CAST(SUM(self_ns) AS BIGINT) AS sum_ns, MAX(self_ns) AS longest_ns,
  ARG_MAX(place, self_ns) AS place
FROM _entry GROUP BY operation ORDER BY longest_ns DESC, operation

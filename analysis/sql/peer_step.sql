-- How long an entry into an operation takes the processes of a family, each beside the others: processes
-- with a training loop, whose names differ in their number only. Those whose records were rolled up are
-- left out.
--   entries      of the process into the operation
--   mean_ns      of an entry, without the operations inside and without waits for other processes
--   typical_ns   the median of mean_ns over the other processes of the family
--   excess_ns    by how much it takes longer: entries x (mean_ns - typical_ns), 0 where it does not
--   slower_ns    excess_ns over all operations of the process
--   loop_ns      its training loop
-- uses: looping_process, process_family, kept_from, wait_target
WITH _member AS (  -- of families that have others
  SELECT process_id FROM process_family WHERE process_id IN (FROM looping_process)
  QUALIFY COUNT(*) OVER (PARTITION BY family) > 1
), _waited AS (
  SELECT process_id, operation, SUM(self_ns) AS waited_ns FROM wait_target
  WHERE is_other GROUP BY ALL
), _entry AS (
  SELECT process_id, path AS operation, COUNT(*) AS entries, SUM(self_ns) AS self_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id IN (FROM _member) AND process_id NOT IN (SELECT process_id FROM kept_from)
  GROUP BY ALL
), _mean AS (
  SELECT family, process_id, operation, entries,
    CAST(GREATEST(self_ns - COALESCE(waited_ns, 0), 0) AS BIGINT) // entries AS mean_ns
  FROM _entry JOIN process_family USING (process_id)
    LEFT JOIN _waited USING (process_id, operation)
), _typical AS (
  SELECT process_id, operation, CAST(FLOOR(MEDIAN(other.mean_ns)) AS BIGINT) AS typical_ns
  FROM _mean JOIN (SELECT family, operation, process_id AS other_id, mean_ns FROM _mean) AS other
    USING (family, operation)
  WHERE process_id <> other_id GROUP BY ALL
), _loop AS (
  SELECT process_id, SUM(duration_ns) AS loop_ns FROM training_loop WHERE stage = 'loop' GROUP BY ALL
)
SELECT family, COUNT(*) OVER (PARTITION BY family, operation) AS processes, process_id,
  process.name AS process, operation, entries, mean_ns, typical_ns,
  CAST(entries * GREATEST(mean_ns - typical_ns, 0) AS BIGINT) AS excess_ns,
  CAST(SUM(entries * GREATEST(mean_ns - typical_ns, 0)) OVER (PARTITION BY process_id) AS BIGINT)
    AS slower_ns,
  CAST(loop_ns AS BIGINT) AS loop_ns
FROM _mean JOIN _typical USING (process_id, operation) JOIN _loop USING (process_id)
  JOIN process USING (process_id)
ORDER BY slower_ns DESC, process_id, excess_ns DESC, operation

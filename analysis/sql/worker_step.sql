-- What environment workers did while the process that they serve was in an operation that waits for
-- them, as a vector of environments does in its step: one row per worker.
--   operation     of the process served (process_id), one of those in which it waits for a worker
--   instances     of it that were looked at: the first ones, all of them but in very long runs
--   rolled_up     whether there were instances before, of which only the sums were kept
--   operation_ns  their wall time
--   steps         of these instances, those in which a worker stepped
--   own_steps     those in which this one did
--   whole_ns      wall time of all instances of the operation that have a record
--   any_ns        the part of operation_ns in which at least one of the workers stepped
--   stepped_ns    the part in which this one did
--   all_stepped_ns  the same added up over the workers
--   typical_ns    what it steps for in an instance, by the median of the other workers; NULL: it is alone
--   excess_ns     by how much stepped_ns exceeds own_steps x typical_ns
--   tail_ns       the part of late_ns by which it exceeds typical_ns in these instances, at most excess_ns
--   until_ns      from the starts of these instances until it ended, beyond typical_ns in each
--   workers, cores  how many workers the process waits for, and how many CPUs the run could use
--   pickled_ns    serialization by this worker in no operation, whole calls, of the whole run: its
--                 results, and what it is told; NULL where no process has any
--   server_pickled_ns  serialization by the process served in the operation
--   last          instances in which it was the last to end, where several stepped
--   late_ns       by how long, added up: between its end and that of the one before
-- uses: serving_worker, served_instance, worker_part
WITH _any AS (
  SELECT process_id, operation, SUM(GREATEST(end_ns - new_ns, 0)) AS any_ns,
    COUNT(DISTINCT served_ns) AS steps
  FROM worker_part GROUP BY ALL
), _end AS (
  SELECT process_id, operation, served_ns, worker_id, MAX(end_ns) AS end_ns,
    SUM(end_ns - start_ns) AS stepped_ns
  FROM worker_part GROUP BY ALL
), _order AS (
  SELECT *, LEAD(end_ns) OVER _by_end AS before_ns, ROW_NUMBER() OVER _by_end AS place
  FROM _end
  WINDOW _by_end AS (PARTITION BY process_id, operation, served_ns ORDER BY end_ns DESC, worker_id)
), _mean AS (
  SELECT process_id, operation, worker_id, SUM(stepped_ns) // COUNT(*) AS mean_ns
  FROM _end GROUP BY ALL
), _typical AS (
  SELECT process_id, operation, own.worker_id, CAST(FLOOR(MEDIAN(other.mean_ns)) AS BIGINT) AS typical_ns
  FROM _mean AS own JOIN _mean AS other USING (process_id, operation)
  WHERE other.worker_id <> own.worker_id GROUP BY ALL
), _worker AS (
  SELECT process_id, operation, worker_id, COUNT(*) AS own_steps, SUM(stepped_ns) AS stepped_ns,
    ANY_VALUE(typical_ns) AS typical_ns,
    GREATEST(SUM(stepped_ns) - COUNT(*) * ANY_VALUE(typical_ns), 0) AS excess_ns,
    COUNT(*) FILTER (place = 1 AND before_ns IS NOT NULL) AS last,
    COALESCE(SUM(end_ns - before_ns) FILTER (place = 1), 0) AS late_ns,
    COALESCE(SUM(LEAST(end_ns - before_ns, GREATEST(stepped_ns - typical_ns, 0)))
      FILTER (place = 1 AND before_ns IS NOT NULL), 0) AS tail_ns,
    COALESCE(SUM(GREATEST(end_ns - served_ns - typical_ns, 0)), 0) AS until_ns
  FROM _order LEFT JOIN _typical USING (process_id, operation, worker_id) GROUP BY ALL
), _length AS (
  SELECT process_id, operation, COUNT(*) AS instances, SUM(end_ns - start_ns) AS operation_ns,
    ANY_VALUE(from_ns) IS NOT NULL AS rolled_up
  FROM served_instance GROUP BY ALL
), _whole AS (
  SELECT process_id, path AS operation, SUM(duration_ns) AS whole_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id IN (SELECT process_id FROM serving_worker) GROUP BY ALL
), _pickled AS (
  SELECT process_id, operation, SUM(duration_ns) AS pickled_ns FROM native_call
  WHERE layer = 'python' AND function NOT LIKE 'gc:%' GROUP BY ALL
)
SELECT process_id, server.name AS process, operation, worker_id, worker.name AS worker,
  instances, rolled_up, CAST(operation_ns AS BIGINT) AS operation_ns,
  CAST(whole_ns AS BIGINT) AS whole_ns, steps, own_steps, CAST(any_ns AS BIGINT) AS any_ns,
  CAST(stepped_ns AS BIGINT) AS stepped_ns,
  CAST(SUM(stepped_ns) OVER _served AS BIGINT) AS all_stepped_ns, typical_ns,
  CAST(excess_ns AS BIGINT) AS excess_ns, CAST(LEAST(tail_ns, excess_ns) AS BIGINT) AS tail_ns,
  CAST(until_ns AS BIGINT) AS until_ns,
  COUNT(*) OVER _served AS workers, cores,
  CASE WHEN EXISTS (FROM _pickled) THEN CAST(COALESCE(own.pickled_ns, 0) AS BIGINT) END AS pickled_ns,
  CASE WHEN EXISTS (FROM _pickled) THEN CAST(COALESCE(served.pickled_ns, 0) AS BIGINT) END
    AS server_pickled_ns,
  last, CAST(late_ns AS BIGINT) AS late_ns
FROM _worker JOIN _any USING (process_id, operation) JOIN _length USING (process_id, operation)
  JOIN _whole USING (process_id, operation)
  JOIN process AS server USING (process_id) JOIN process AS worker ON worker.process_id = worker_id
  LEFT JOIN _pickled AS own ON own.process_id = worker_id AND own.operation = '(none)'
  LEFT JOIN _pickled AS served USING (process_id, operation)
  LEFT JOIN host ON host.host_id = server.host_id
WINDOW _served AS (PARTITION BY process_id, operation)
ORDER BY operation_ns DESC, process_id, operation, excess_ns DESC, late_ns DESC, worker_id

-- Steps of environment workers in the instances of the operations that wait for them. A step is an
-- instance of a worker's outermost operations. Where it lies in two instances of the process served
-- (step_async and step_wait), it has a part in each: the one in which it began, the one in which it ended.
--   process_id, operation, iteration, served_ns  the instance, by its start
--   new_ns                                       end of all parts of the operation before, if later than
--                                                start_ns: from there on, no other worker steps yet
-- uses: serving_worker, served_instance
WITH _step AS (
  SELECT _pair.process_id, worker_id, start_ns, start_ns + duration_ns AS end_ns
  FROM (SELECT DISTINCT process_id, worker_id FROM serving_worker) AS _pair
    JOIN operation_instance ON operation_instance.process_id = worker_id
    JOIN operation USING (operation_id)
  WHERE depth = 0 AND duration_ns > 0
), _part AS (
  SELECT served.process_id, operation, iteration, served.start_ns AS served_ns, worker_id,
    GREATEST(step.start_ns, served.start_ns) AS start_ns,
    LEAST(step.end_ns, served.end_ns) AS end_ns
  FROM _step AS step ASOF JOIN served_instance AS served
    ON step.process_id = served.process_id AND step.start_ns >= served.start_ns
  UNION
  SELECT served.process_id, operation, iteration, served.start_ns, worker_id,
    GREATEST(step.start_ns, served.start_ns), LEAST(step.end_ns, served.end_ns)
  FROM _step AS step ASOF JOIN served_instance AS served
    ON step.process_id = served.process_id AND step.end_ns > served.start_ns
)
SELECT *, GREATEST(start_ns, MAX(end_ns) OVER (PARTITION BY process_id, operation
  ORDER BY start_ns, end_ns, worker_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS new_ns
FROM _part WHERE end_ns > start_ns

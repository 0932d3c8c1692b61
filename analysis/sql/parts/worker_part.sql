-- Steps of environment workers in the instances of the operations that wait for them. A step is an
-- instance of a worker's outermost operations. Where it lies in two instances of the process served
-- (step_async and step_wait), it has a part in each.
--   process_id, operation, served_ns  the instance, by its start
--   new_ns                            end of all parts of the operation before, if later than
--                                     start_ns: from there on, no other worker steps yet
-- uses: serving_worker, served_instance
WITH _served AS (  -- with the instance after each, and one before the first
  SELECT process_id, start_ns, end_ns, operation, LEAD(start_ns) OVER _in_order AS next_ns,
    LEAD((operation, end_ns)) OVER _in_order AS next
  FROM (
    FROM served_instance
    UNION ALL BY NAME
    SELECT DISTINCT process_id, -1 AS start_ns, -1 AS end_ns FROM serving_worker)
  WINDOW _in_order AS (PARTITION BY process_id ORDER BY start_ns)
), _step AS (
  SELECT _pair.process_id, worker_id, start_ns, start_ns + duration_ns AS end_ns
  FROM (SELECT DISTINCT process_id, worker_id FROM serving_worker) AS _pair
    JOIN operation_instance ON operation_instance.process_id = worker_id
    JOIN operation USING (operation_id)
  WHERE depth = 0 AND duration_ns > 0 AND start_ns < (SELECT MAX(end_ns) FROM served_instance)
), _begin AS (
  SELECT process_id, start_ns, _served AS served, NULL AS step FROM _served
  UNION ALL
  SELECT process_id, start_ns, NULL, _step FROM _step
), _latest AS (  -- an ASOF JOIN would compare all pairs, where DuckDB takes these for a few rows
  SELECT step, LAST_VALUE(served IGNORE NULLS) OVER (
    PARTITION BY process_id ORDER BY start_ns, step IS NOT NULL ROWS UNBOUNDED PRECEDING) AS served
  FROM _begin QUALIFY step IS NOT NULL
), _placed AS MATERIALIZED (
  SELECT UNNEST(served), step.worker_id AS worker_id, step.start_ns AS step_ns,
    step.end_ns AS stepped_ns
  FROM _latest WHERE served IS NOT NULL
), _part AS (
  SELECT process_id, operation, start_ns AS served_ns, worker_id, step_ns AS start_ns,
    LEAST(stepped_ns, end_ns) AS end_ns
  FROM _placed WHERE step_ns < end_ns
  UNION ALL
  SELECT process_id, next[1], next_ns, worker_id, next_ns, LEAST(stepped_ns, next[2])
  FROM _placed WHERE stepped_ns > next_ns
)
SELECT *, GREATEST(start_ns, MAX(end_ns) OVER (PARTITION BY process_id, operation
  ORDER BY start_ns, end_ns, worker_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS new_ns
FROM _part

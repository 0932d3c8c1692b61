-- How long a process waits for other processes in its complete iterations, of processes that wait for
-- any: the process that waits most first, and its longest iteration.
--   process     its name
--   waited_ns   its waits in the iteration, by operation: as large a part as in the whole loop is for others
--   kind, role, family, peers, name, last_name  whom it waits for most (parts/main_target.sql)
-- uses: own_iteration, waited_share, main_target
WITH _waited AS (
  SELECT own.process_id, own.iteration, SUM(rows.duration_ns * share) AS waited_ns
  FROM own_iteration AS own JOIN iteration_breakdown AS rows
    ON rows.process_id = own.process_id AND rows.iteration = own.iteration
      AND rows.iteration_source IS NOT DISTINCT FROM own.source
    JOIN waited_share
      ON waited_share.process_id = own.process_id AND waited_share.operation = rows.operation
  WHERE layer = 'wait' GROUP BY ALL
)
SELECT own.process_id, process.name AS process, own.iteration, own.duration_ns,
  CAST(COALESCE(waited_ns, 0) AS BIGINT) AS waited_ns, target.kind, target.role,
  target.family, target.peers, target.name, target.last_name
FROM own_iteration AS own JOIN main_target AS target ON target.waiting_id = own.process_id
  JOIN process ON process.process_id = own.process_id
  LEFT JOIN _waited ON _waited.process_id = own.process_id AND _waited.iteration = own.iteration
ORDER BY SUM(waited_ns) OVER (PARTITION BY own.process_id) DESC NULLS LAST, own.process_id,
  own.duration_ns DESC, own.iteration

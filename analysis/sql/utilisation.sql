-- What pollers said beside what the trace knows of the same time: GPUs in use by either, the busiest
-- core, and of processes that recorded something the $processes with the most CPU time.
--   gpu, core, process_id, duration_ns, polled_percent, cpu_ns, busy_ns, cuda_api_ns, waiting_ns
--                    as of relation utilisation
--   process, os_pid  name and pid of a process
--   cores            of the busiest core: how many there are
--   machine_percent  of the busiest core: share of all of them
WITH _core AS (
  SELECT host_id, kind, MAX_BY(core, polled_percent) AS core, COUNT(*) AS cores
  FROM utilisation WHERE kind = 'core' GROUP BY host_id, kind
), _process AS (
  SELECT process_id, name AS process, os_pid FROM process WHERE events > 0
), _largest AS (
  SELECT process_id FROM utilisation JOIN _process USING (process_id)
  WHERE kind = 'process' ORDER BY cpu_ns DESC, process_id LIMIT $processes
)
SELECT kind, gpu, core, process_id, process, os_pid, duration_ns, polled_percent, cpu_ns,
  busy_ns, cuda_api_ns, waiting_ns, cores,
  (SELECT MAX(polled_percent) FROM utilisation AS machine
   WHERE machine.kind = 'machine' AND machine.host_id = utilisation.host_id
     AND utilisation.kind = 'core') AS machine_percent
FROM utilisation LEFT JOIN _core USING (host_id, kind, core) LEFT JOIN _process USING (process_id)
WHERE (kind = 'gpu' AND (polled_percent > 0 OR busy_ns > 0))
  OR (kind = 'core' AND cores IS NOT NULL)
  OR (kind = 'process' AND process_id IN (FROM _largest))
ORDER BY kind = 'process', kind = 'core', gpu, cpu_ns DESC, process_id

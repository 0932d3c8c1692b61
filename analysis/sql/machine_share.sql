-- How busy each machine was while it was read, and how much of that this run was: the busiest first.
--   cores           that were read
--   polled_percent  CPU time of everybody, of all cores
--   run_percent     CPU time of the run's processes, of all cores; NULL where it is not known
SELECT host_id, cores, machine.polled_percent,
  100 * machine.cpu_ns / (machine.duration_ns * cores) AS run_percent
FROM utilisation AS machine
  JOIN (SELECT host_id, COUNT(*) AS cores FROM utilisation WHERE kind = 'core' GROUP BY host_id)
  USING (host_id)
WHERE kind = 'machine'
ORDER BY machine.polled_percent DESC, host_id

-- Programs of the run that nothing recorded, by kind: those with the most CPU time first.
--   processes    of the program
--   ran_ns       union of the times of its processes
--   kind_ns, kind_processes, kind_programs  the same union over all programs of the kind; their number
--   kind_cpu_ns  CPU time of all programs of the kind
--   run_ns       length of the run
--   all_cpu_ns   CPU time of all processes, recorded or not
--   waited_ns    how long processes with a training loop waited for processes of the kind: for their
--                end, or for a pipe whose other end no recorded process has
-- uses: looping_process
WITH _kind AS (
  SELECT kind, start_ns, end_ns, MAX(end_ns) OVER (
    PARTITION BY kind ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS covered_ns FROM unrecorded
), _program AS (
  SELECT *, MAX(end_ns) OVER (
    PARTITION BY kind, program ORDER BY start_ns, end_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS covered_ns FROM unrecorded
), _of_kind AS (
  SELECT kind, COALESCE(SUM(GREATEST(
    end_ns - GREATEST(start_ns, COALESCE(covered_ns, start_ns)), 0)), 0) AS kind_ns
  FROM _kind GROUP BY kind
), _wait AS (
  SELECT COALESCE(SUM(self_ns), 0) AS waited_ns FROM wait
  WHERE process_id IN (FROM looping_process) AND peer_process_id IS NULL AND (
    kind = 'process' AND object IN (SELECT CAST(os_pid AS VARCHAR) FROM unrecorded)
    OR kind = 'pipe' AND object NOT IN (
      SELECT other.object FROM wait AS other
      WHERE other.kind = 'pipe' AND other.object IS NOT NULL AND other.process_id <> wait.process_id))
), _run AS (
  SELECT end_ns - start_ns AS run_ns FROM run
), _recorded AS (
  SELECT COALESCE(SUM(cpu_ns), 0) AS cpu_ns FROM process
  WHERE process_id NOT IN (SELECT process_id FROM unrecorded WHERE process_id IS NOT NULL)
)
SELECT kind, program, COUNT(*) AS processes, ANY_VALUE(reason) AS reason, ANY_VALUE(remedy) AS remedy,
  CAST(SUM(GREATEST(end_ns - GREATEST(start_ns, COALESCE(covered_ns, start_ns)), 0)) AS BIGINT)
    AS ran_ns,
  CAST(COALESCE(SUM(_program.cpu_ns), 0) AS BIGINT) AS cpu_ns,
  CAST(ANY_VALUE(kind_ns) AS BIGINT) AS kind_ns,
  CAST(SUM(COUNT(*)) OVER (PARTITION BY kind) AS BIGINT) AS kind_processes,
  COUNT(*) OVER (PARTITION BY kind) AS kind_programs,
  CAST(COALESCE(SUM(SUM(_program.cpu_ns)) OVER (PARTITION BY kind), 0) AS BIGINT) AS kind_cpu_ns,
  ANY_VALUE(_run.run_ns) AS run_ns,
  CAST(ANY_VALUE(_recorded.cpu_ns) + COALESCE(SUM(SUM(_program.cpu_ns)) OVER (), 0) AS BIGINT) AS all_cpu_ns,
  CAST(ANY_VALUE(waited_ns) AS BIGINT) AS waited_ns
FROM _program JOIN _of_kind USING (kind), _wait, _recorded, _run
GROUP BY kind, program
ORDER BY cpu_ns DESC, ran_ns DESC, program, kind
LIMIT $programs

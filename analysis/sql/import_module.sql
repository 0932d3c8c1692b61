-- Modules that took the longest to import, of the processes of a role together: at most $rows of each that the
-- program asked for, and of the others.
--   processes  that imported it
--   asked_ns   as in asked_import; NULL: another library imported it
--   asked_ns, total_ns, self_ns, cpu_ns  means over these processes
--   imported_by, asked_by  of the first of them
-- uses: asked_import
WITH _row AS (
  SELECT process_id, module, imported_by, own.asked_by, asked_ns, start_ns,
    COALESCE(own.total_ns, asked_ns) AS total_ns, COALESCE(own.self_ns, 0) AS self_ns,
    COALESCE(own.cpu_ns, 0) AS cpu_ns
  FROM (FROM import WHERE module IS NOT NULL) AS own FULL JOIN asked_import USING (process_id, module)
), _module AS (
  SELECT COALESCE(process.role, '') AS role, module, COUNT(DISTINCT process_id) AS processes,
    ARG_MIN(imported_by, _row.start_ns) AS imported_by, ARG_MIN(asked_by, _row.start_ns) AS asked_by,
    CAST(AVG(asked_ns) AS BIGINT) AS asked_ns,
    AVG(total_ns) AS total_ns, AVG(self_ns) AS self_ns, AVG(_row.cpu_ns) AS cpu_ns
  FROM _row JOIN process USING (process_id)
  GROUP BY ALL
)
SELECT NULLIF(role, '') AS role, module, processes, imported_by, asked_by, asked_ns,
  CAST(total_ns AS BIGINT) AS total_ns, CAST(self_ns AS BIGINT) AS self_ns,
  CAST(cpu_ns AS BIGINT) AS cpu_ns
FROM _module
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY role, asked_ns IS NULL ORDER BY COALESCE(asked_ns, total_ns) DESC, module
) <= $rows
ORDER BY SUM(self_ns * processes) OVER (PARTITION BY role) DESC, role, total_ns DESC, module

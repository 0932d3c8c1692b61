-- Modules that took the longest to import, of the processes of a role together: at most $rows of each that the
-- program asked for, and of the others.
--   processes  that imported it
--   asked_ns   as in asked_import; NULL: another library imported it
--   asked_ns, total_ns, self_ns, cpu_ns  means over these processes
--   imported_by, asked_by  of the first of them
-- uses: asked_import
WITH _module AS (
  SELECT COALESCE(process.role, '') AS role, module, COUNT(DISTINCT process_id) AS processes,
    ARG_MIN(imported_by, import.start_ns) AS imported_by,
    ARG_MIN(import.asked_by, import.start_ns) AS asked_by, CAST(AVG(asked_ns) AS BIGINT) AS asked_ns,
    AVG(total_ns) AS total_ns, AVG(self_ns) AS self_ns, AVG(import.cpu_ns) AS cpu_ns
  FROM import JOIN process USING (process_id) LEFT JOIN asked_import USING (process_id, module)
  WHERE module IS NOT NULL GROUP BY ALL
)
SELECT NULLIF(role, '') AS role, module, processes, imported_by, asked_by, asked_ns,
  CAST(total_ns AS BIGINT) AS total_ns, CAST(self_ns AS BIGINT) AS self_ns,
  CAST(cpu_ns AS BIGINT) AS cpu_ns
FROM _module
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY role, asked_ns IS NULL ORDER BY COALESCE(asked_ns, total_ns) DESC, module
) <= $rows
ORDER BY SUM(self_ns * processes) OVER (PARTITION BY role) DESC, role, total_ns DESC, module

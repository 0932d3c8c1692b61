-- What the children of a process ($process_id) import: how many they are, what each takes on average, and
-- the module that takes most of it. One row, or none.
-- uses: asked_import
WITH _child AS (
  SELECT process_id FROM process WHERE parent_process_id = $process_id
), _import AS (
  SELECT import.* FROM import JOIN _child USING (process_id)
), _asked AS (
  SELECT asked_import.* FROM asked_import JOIN _child USING (process_id)
)
SELECT COUNT(DISTINCT process_id) AS children,
  CAST(SUM(self_ns) / COUNT(DISTINCT process_id) AS BIGINT) AS each_ns,
  (SELECT ARG_MAX(module, asked_ns) FROM _asked) AS module
FROM _import HAVING COUNT(module) > 0

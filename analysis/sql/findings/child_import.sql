-- What the children of a process ($process_id) import: how many they are, what each takes on average, and
-- the module that takes most with all that it imports. One row, or none.
WITH _child AS (
  SELECT process_id FROM process WHERE parent_process_id = $process_id
), _import AS (
  SELECT import.* FROM import JOIN _child USING (process_id)
)
SELECT COUNT(DISTINCT process_id) AS children,
  CAST(SUM(self_ns) / COUNT(DISTINCT process_id) AS BIGINT) AS each_ns,
  ARG_MAX(module, total_ns) AS module
FROM _import HAVING COUNT(module) > 0

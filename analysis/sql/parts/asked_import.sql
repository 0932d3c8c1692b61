-- Modules that a line of the program's own imports, or that no other module imported (process_id, module,
-- asked_by). A module in which the program did more than to import has no row: it is there with what it
-- imported, without the line.
--   asked_ns  of total_ns what is of no other such module. So a module of the program has its own time, and the
--             libraries that it imports have theirs
WITH _import AS (
  SELECT one.*, one.start_ns + one.total_ns AS end_ns, imported_by IS NOT NULL AND NOT EXISTS (
    FROM import AS other
    WHERE other.process_id = one.process_id AND other.module = one.imported_by) AS is_orphan
  FROM import AS one WHERE module IS NOT NULL
), _asked AS (
  SELECT *, IF(is_orphan AND is_own IS NOT TRUE, imported_by, module) AS name FROM _import
  WHERE is_own OR imported_by IS NULL OR is_orphan
), _around AS (  -- the nearest one around each
  SELECT inner_.process_id, inner_.total_ns, ARG_MAX(outer_.name, outer_.start_ns) AS name
  FROM _asked AS inner_ JOIN _asked AS outer_ USING (process_id)
  WHERE outer_.module <> inner_.module
    AND outer_.start_ns <= inner_.start_ns AND inner_.end_ns <= outer_.end_ns
  GROUP BY inner_.process_id, inner_.module, inner_.total_ns
), _part AS (
  SELECT process_id, name, SUM(total_ns) AS inside_ns FROM _around GROUP BY ALL
)
SELECT process_id, name AS module,
  ARG_MIN(asked_by, start_ns) FILTER (is_own OR NOT is_orphan) AS asked_by,
  CAST(GREATEST(SUM(total_ns) - COALESCE(ANY_VALUE(inside_ns), 0), 0) AS BIGINT) AS asked_ns
FROM _asked LEFT JOIN _part USING (process_id, name) GROUP BY process_id, name

-- Modules that a line of the program's own imports, or that no other module imported (process_id, module,
-- asked_by).
--   asked_ns  of total_ns what is of no other such module. So a module of the program has its own time, and the
--             libraries that it imports have theirs
WITH _asked AS (
  SELECT *, start_ns + total_ns AS end_ns FROM import
  WHERE module IS NOT NULL AND (is_own OR imported_by IS NULL)
), _around AS (  -- the nearest one around each
  SELECT inner_.process_id, inner_.total_ns, ARG_MAX(outer_.module, outer_.start_ns) AS module
  FROM _asked AS inner_ JOIN _asked AS outer_ USING (process_id)
  WHERE outer_.module <> inner_.module
    AND outer_.start_ns <= inner_.start_ns AND inner_.end_ns <= outer_.end_ns
  GROUP BY inner_.process_id, inner_.module, inner_.total_ns
), _part AS (
  SELECT process_id, module, SUM(total_ns) AS inside_ns FROM _around GROUP BY ALL
)
SELECT process_id, module, asked_by,
  CAST(GREATEST(total_ns - COALESCE(inside_ns, 0), 0) AS BIGINT) AS asked_ns
FROM _asked LEFT JOIN _part USING (process_id, module)

-- Why the trace has no GPU work; no row when it has.
SELECT DISTINCT reason FROM absent
WHERE (relation = 'kernel' OR "column" = 'gpu_busy')
  AND NOT EXISTS (SELECT 1 FROM breakdown WHERE gpu_busy)
ORDER BY reason

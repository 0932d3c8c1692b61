-- Why the trace has no GPU work; no row when it has.
SELECT reason FROM absent
WHERE relation = 'kernel' AND NOT EXISTS (SELECT 1 FROM breakdown WHERE gpu_busy)

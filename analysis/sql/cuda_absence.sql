-- Why the trace has nothing of CUDA; no row when it has.
SELECT reason FROM absent
WHERE relation = 'api_call' AND column_name = '*' AND NOT EXISTS (SELECT 1 FROM gpu_time)

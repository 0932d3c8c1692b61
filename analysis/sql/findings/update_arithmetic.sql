-- How much longer than $least_ns the operators took that only updates with moments call, in an operation
-- ($operation) of a process ($process_id): arithmetic_ns. 0 if the operation calls CUDA: then they launch.
WITH _launch AS (
  SELECT COUNT(*) AS states FROM breakdown
  WHERE process_id = $process_id AND operation = $operation AND layer = 'cuda_api'
)
SELECT CAST(COALESCE(SUM(GREATEST(duration_ns - $least_ns * calls, 0)), 0) AS DOUBLE) AS arithmetic_ns
FROM native_call, _launch
WHERE process_id = $process_id AND operation = $operation AND layer = 'framework' AND states = 0
  AND regexp_matches(function, '[.:](addcdiv_|addcmul_)$')

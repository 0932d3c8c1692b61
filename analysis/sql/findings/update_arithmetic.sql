-- How much longer than $least_ns the operators took that only updates with moments call, in all of a
-- process ($process_id): arithmetic_ns.
SELECT CAST(COALESCE(SUM(GREATEST(duration_ns - $least_ns * calls, 0)), 0) AS DOUBLE) AS arithmetic_ns
FROM native_call
WHERE process_id = $process_id AND layer = 'framework'
  AND regexp_matches(function, '[.:](addcdiv_|addcmul_|lerp_|sqrt)$')

-- mean_ns: how long an operator that only optimizers call takes in a process ($process_id), in the mean over its
-- calls in the operations $operations: the longest of them; 0: none is called.
SELECT COALESCE(MAX(duration_ns / calls), 0) AS mean_ns FROM (
  SELECT SUM(duration_ns) AS duration_ns, SUM(calls) AS calls FROM native_call
  WHERE process_id = $process_id AND layer = 'framework' AND operation IN (SELECT UNNEST($operations))
    AND regexp_matches(function, '[.:](addcdiv_|addcmul_|_foreach_addcdiv_|_foreach_addcmul_|_fused_\w+)$')
  GROUP BY function)

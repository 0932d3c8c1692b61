-- One row: whether CUDA calls were recorded outside of windows of GPU work, too.
SELECT COALESCE(ANY_VALUE(json_extract_string(options, '$.gpu_calls')), '') <> 'windows'
  AS calls_everywhere
FROM run

-- In which precision the first forwards of a process ($process_id) were, and how much arithmetic its
-- operations ($operations) do in layers of networks, those with the most first. None calls CUDA: there
-- calls only launch.
--   in_double, in_others  forwards that are given numbers of double precision, and others
--   arithmetic_ns         what these functions take beyond $call_ns a call, which no precision changes,
--                         and of backwards the part that it is of forwards; at most the framework's
--                         time in the loop. Calls take longer by as much as threads lacked a CPU
--   convolutions          part of it that is of convolutions
WITH _given AS (
  SELECT CAST(value ->> 0 AS BIGINT) AS in_double, CAST(value ->> 1 AS BIGINT) AS in_others
  FROM metadata WHERE process_id = $process_id AND key = 'rlscope.precision' AND json_valid(value)
), _slow AS (
  SELECT COALESCE(1 + SUM(runnable_ns) / SUM(running_ns), 1) AS factor
  FROM thread WHERE process_id = $process_id AND running_ns > 0
), _state AS (
  SELECT operation, SUM(duration_ns) FILTER (layer = 'framework') AS framework_ns,
    COUNT(*) FILTER (layer = 'cuda_api') AS states
  FROM breakdown
  WHERE process_id = $process_id AND stage IN ('loop', 'whole')
    AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _call AS (
  SELECT operation, function LIKE '%run_backward' AS is_backward,
    regexp_matches(function, '[.:]_fused_') AS is_update,
    regexp_matches(function, '[.:]conv[123]d$') AS is_convolution, SUM(duration_ns) AS duration_ns,
    SUM(GREATEST(duration_ns - $call_ns * factor * calls, 0)) AS beyond_ns
  FROM native_call CROSS JOIN _slow
  WHERE process_id = $process_id AND layer = 'framework' AND (
    function LIKE '%run_backward'
    OR regexp_matches(function, '[.:]_fused_(adamw?|sgd)_$')
    OR regexp_matches(function, '[.:](linear|addmm|matmul|__matmul__|b?mm|conv[123]d|lstm|gru)$')
    OR regexp_matches(function, '[.:](lstm_cell|gru_cell|scaled_dot_product_attention)$')
    OR regexp_matches(function, '[.:](tanh|relu|leaky_relu|elu|gelu|silu|sigmoid|softplus)_?$')
    OR regexp_matches(function, '[.:](layer_norm|batch_norm|group_norm)$')
  )
  GROUP BY operation, is_backward, is_update, is_convolution
), _sum AS (
  SELECT operation,
    SUM(beyond_ns) FILTER (NOT is_backward AND NOT is_update) AS beyond_ns,
    COALESCE(SUM(beyond_ns) FILTER (is_convolution), 0) AS convolutions_ns,
    SUM(duration_ns) FILTER (NOT is_backward AND NOT is_update) AS layers_ns,
    COALESCE(SUM(beyond_ns) FILTER (is_update), 0) AS update_ns,
    COALESCE(SUM(duration_ns) FILTER (is_backward), 0) AS backward_ns
  FROM _call GROUP BY operation
)
SELECT operation, in_double, in_others,
  CAST(LEAST(
    beyond_ns * (1 + backward_ns / layers_ns) + update_ns, framework_ns
  ) AS DOUBLE) AS arithmetic_ns,
  CAST(convolutions_ns / GREATEST(beyond_ns, 1) AS DOUBLE) AS convolutions
FROM _sum JOIN _state USING (operation) CROSS JOIN _given
WHERE layers_ns > 0 AND framework_ns > 0 AND states = 0
ORDER BY arithmetic_ns DESC, operation

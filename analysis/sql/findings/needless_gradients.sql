-- What operations of inference ($operations) of a process ($process_id) pay PyTorch, and whether autograd
-- is on in them.
--   work_ns    time of the operation in layer framework, in the training loop
--   switches   calls in the operation that turn autograd on or off; mode calls count alike
--   backwards  of the process; forwards  calls of layers inside of other operations than these
WITH _state AS (
  SELECT operation, SUM(duration_ns) AS work_ns FROM breakdown
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'framework'
    AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _call AS (
  SELECT operation, function, SUM(calls) AS calls FROM native_call
  WHERE process_id = $process_id AND layer = 'framework' GROUP BY operation, function
)
SELECT operation, CAST(work_ns AS BIGINT) AS work_ns,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _call
    WHERE _call.operation = _state.operation
      AND regexp_matches(function, '_set_grad_enabled|[Ii]nference_?[Mm]ode')) AS switches,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _call
    WHERE function LIKE '%run_backward') AS backwards,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _call AS other
    WHERE other.operation NOT IN (SELECT UNNEST($operations)) AND function IN (
      SELECT function FROM _call WHERE _call.operation = _state.operation
        AND regexp_matches(function, ':(linear|addmm|matmul|TensorBase\.(matmul|__matmul__)|conv[123]d|lstm|gru|(lstm|gru)_cell)$')
    )) AS forwards
FROM _state ORDER BY work_ns DESC, operation

-- What operations of inference ($operations) of a process ($process_id) pay PyTorch, and whether autograd
-- is on in them.
--   entries      of the operation
--   work_ns      time of the operation in layer framework, in the training loop
--   switches     calls in the operation that turn autograd on or off
--   backwards, backward_ns  of the process; replays: entries into operations of replay ($replay)
--   forward_ns   of calls, in operations with backwards, of functions with weights that inference calls;
--                forward_calls: how many
WITH _entry AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id GROUP BY path
), _state AS (
  SELECT operation, SUM(duration_ns) AS work_ns FROM breakdown
  WHERE process_id = $process_id AND stage = 'loop' AND layer = 'framework'
    AND operation IN (SELECT UNNEST($operations))
  GROUP BY operation
), _call AS (
  SELECT operation, function, SUM(calls) AS calls, SUM(duration_ns) AS duration_ns
  FROM native_call WHERE process_id = $process_id AND layer = 'framework'
  GROUP BY operation, function
), _weighted AS (
  SELECT * FROM _call WHERE regexp_matches(
    function,
    ':(linear|addmm|matmul|TensorBase\.(matmul|__matmul__)|conv[123]d|lstm|gru|(lstm|gru)_cell)$'
  )
), _backward AS (
  SELECT * FROM _call WHERE function LIKE '%run_backward'
)
SELECT operation, entries, CAST(work_ns AS BIGINT) AS work_ns,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _call
    WHERE _call.operation = _state.operation
      AND regexp_matches(function, '_set_grad_enabled|[Ii]nference_?[Mm]ode')) AS switches,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _backward) AS backwards,
  (SELECT CAST(COALESCE(SUM(duration_ns), 0) AS BIGINT) FROM _backward) AS backward_ns,
  (SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT) FROM _entry
    WHERE operation IN (SELECT UNNEST($replay))) AS replays,
  (SELECT CAST(COALESCE(SUM(duration_ns), 0) AS BIGINT) FROM _weighted AS other
    WHERE other.operation IN (SELECT operation FROM _backward)
      AND function IN (SELECT function FROM _weighted WHERE operation = _state.operation)
  ) AS forward_ns,
  (SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM _weighted AS other
    WHERE other.operation IN (SELECT operation FROM _backward)
      AND function IN (SELECT function FROM _weighted WHERE operation = _state.operation)
  ) AS forward_calls
FROM _state JOIN _entry USING (operation) ORDER BY work_ns DESC, operation

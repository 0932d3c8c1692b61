-- The native functions that take the most time, in each operation, over all processes: the
-- $functions longest of each of the $operations operations with the most native time.
--   calls        outermost calls
--   duration_ns  inside them, callbacks into Python included
--   self_ns      the same without callbacks and CUDA calls
--   native_ns    duration_ns of all native functions of the operation
--   hidden       functions of the operation that are left out
WITH _function AS (
  SELECT operation, function, layer, SUM(calls) AS calls, SUM(duration_ns) AS duration_ns,
    SUM(self_ns) AS self_ns
  FROM native_call GROUP BY operation, function, layer
), _placed AS (
  SELECT *,
    SUM(duration_ns) OVER (PARTITION BY operation) AS native_ns,
    COUNT(*) OVER (PARTITION BY operation) AS functions,
    ROW_NUMBER() OVER (PARTITION BY operation ORDER BY duration_ns DESC, function, layer) AS place
  FROM _function
), _ranked AS (
  SELECT *, DENSE_RANK() OVER (ORDER BY native_ns DESC, operation) AS rank FROM _placed
)
SELECT operation, function, layer, CAST(calls AS BIGINT) AS calls,
  CAST(duration_ns AS BIGINT) AS duration_ns, CAST(self_ns AS BIGINT) AS self_ns,
  CAST(native_ns AS BIGINT) AS native_ns,
  CAST(GREATEST(functions - $functions, 0) AS BIGINT) AS hidden
FROM _ranked
WHERE rank <= $operations AND place <= $functions
ORDER BY rank, place

-- The compiled function that takes most of the training loops of the processes that count in shares. No
-- row: rlscope found no such operation.
--   duration_ns  calls of it, and waits for what they compute; loop_ns: the whole of the loops
--   compiler     NULL: it is not known who compiled it
WITH _loop AS (
  SELECT operation, source, duration_ns FROM training_loop WHERE stage = 'loop'
), _call AS (
  SELECT operation, regexp_extract(operation, '^(?:compiled|update):((?:[^\\/]|\\.)*)$', 1) AS function,
    CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
    CAST((SELECT SUM(duration_ns) FROM _loop) AS BIGINT) AS loop_ns
  FROM _loop WHERE source = 'automatic' AND regexp_matches(operation, '^(compiled|update):') GROUP BY operation
  ORDER BY duration_ns DESC, operation LIMIT 1
)
SELECT function, duration_ns, loop_ns,
  (SELECT MIN(compiler) FROM compilation WHERE compilation.function = _call.function) AS compiler
FROM _call

-- How long entries into an operation ($operation) of a process ($process_id) take, where they may grow from one to
-- the next and begin anew, as where a network reads all of an episode for each action.
--   entries
--   whole_ns     of all of them
--   first_ns     that one of a hundred does not reach; many_ns: nine of ten do not reach it
--   correlation  of the logarithm of an entry with that of the one before: a few that were interrupted hide nothing
--   sequence_ns, calls_ns  of calls of functions that read sequences, and of all of the framework
WITH _entry AS (
  SELECT self_ns, LAG(self_ns) OVER (PARTITION BY thread_id ORDER BY start_ns) AS before_ns
  FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id AND path = $operation AND self_ns > 0
), _call AS (
  SELECT SUM(duration_ns) AS calls_ns, SUM(duration_ns) FILTER (regexp_matches(
      function, ':(gru|lstm|rnn_tanh|rnn_relu|scaled_dot_product_attention|multi_head_attention_forward)$'
    )) AS sequence_ns
  FROM native_call WHERE process_id = $process_id AND layer = 'framework' AND operation = $operation
)
SELECT COUNT(*) AS entries, CAST(SUM(self_ns) AS DOUBLE) AS whole_ns,
  QUANTILE_CONT(self_ns, 0.01) AS first_ns, QUANTILE_CONT(self_ns, 0.9) AS many_ns,
  CORR(LN(self_ns), LN(before_ns)) AS correlation,
  CAST(COALESCE(ANY_VALUE(sequence_ns), 0) AS DOUBLE) AS sequence_ns,
  CAST(COALESCE(ANY_VALUE(calls_ns), 0) AS DOUBLE) AS calls_ns
FROM _entry, _call

-- Lines that lead to time between operations in the training loops, those of libraries too: for each
-- stack the innermost line that leads to at least $least_share of that time. So each time counts once.
-- Callers that lead to more time in other rows than in their own are left out, and what decorates functions.
-- Without waits.
--   own_ns   with own_low_ns and own_high_ns, the ends of its interval
--   text     None: not kept
--   loop_ns  all time of these loops
-- uses: counted_process
WITH RECURSIVE _time AS (
  SELECT process_id, stack_id, SUM(self_ns) AS self_ns,
    SUM(POW(self_ns - self_low_ns, 2)) AS below_ns2, SUM(POW(self_high_ns - self_ns, 2)) AS above_ns2
  FROM stack_time
  WHERE process_id IN (FROM counted_process) AND stage IN ('loop', 'whole') AND operation = '(none)'
    AND layer NOT IN ('wait', 'gpu') AND stack_id IS NOT NULL
  GROUP BY ALL
), _caller AS (  -- each stack with itself and those that it was called from, as caller_id
  SELECT process_id, stack_id, stack_id AS caller_id FROM _time
  UNION ALL
  SELECT _caller.process_id, _caller.stack_id, stack.parent_id
  FROM _caller JOIN stack
    ON stack.process_id = _caller.process_id AND stack.stack_id = _caller.caller_id
  WHERE parent_id < caller_id
), _frame AS (  -- a line that is twice on a stack leads to its time once
  SELECT _caller.process_id, _caller.stack_id, function, file, line, MAX(caller_id) AS place
  FROM _caller JOIN stack
    ON stack.process_id = _caller.process_id AND stack.stack_id = _caller.caller_id
  WHERE line IS NOT NULL AND NOT regexp_matches(file, '/(torch/utils/_contextlib|contextlib|functools)\.py$')
  GROUP BY ALL
), _large AS (
  SELECT function, file, line, SUM(self_ns) AS total_ns FROM _frame JOIN _time USING (process_id, stack_id)
  GROUP BY function, file, line HAVING SUM(self_ns) >= $least_share * (SELECT SUM(self_ns) FROM _time)
), _chosen AS (
  SELECT process_id, stack_id, function, file, line, total_ns FROM _frame JOIN _large USING (function, file, line)
  QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id, stack_id ORDER BY place DESC) = 1
)
SELECT function, file, line, ANY_VALUE(source_text.text) AS text,
  CAST(SUM(self_ns) AS BIGINT) AS own_ns,
  CAST(GREATEST(SUM(self_ns) - SQRT(SUM(below_ns2)), 0) AS BIGINT) AS own_low_ns,
  CAST(SUM(self_ns) + SQRT(SUM(above_ns2)) AS BIGINT) AS own_high_ns,
  CAST((SELECT SUM(duration_ns) FROM training_loop) AS BIGINT) AS loop_ns
FROM _chosen JOIN _time USING (process_id, stack_id) LEFT JOIN source_text USING (file, line)
GROUP BY function, file, line, total_ns HAVING 2 * SUM(self_ns) >= total_ns
ORDER BY own_ns DESC, file, line, function
LIMIT $rows

-- Time between operations in the training loops, by the outermost operations before and after it: the
-- largest first. The rows add up to '(between operations)' of operation_time.
--   before, after  '(not recorded)': a gap between windows; '(other operations)': pairs beyond the $rows
--                  largest
--   why            NULL where the operations are known, else why not: 'rolled up' (rls-prof --rollup),
--                  'later' (after the first $instances operations), 'other' (only operations of suspended
--                  tasks were open)
--   pauses         how many stretches; NULL where the operations are not known
--   between_ns     sum over the rows
-- In the order of their starts, an operation ends a pause if it starts after the latest end of all before.
-- uses: loop_bound, open_interval
WITH _counted AS (  -- by 4,096 parts of the loop, so that memory is bounded
  SELECT process_id, (start_ns - from_ns) // part_ns AS part, COUNT(*) AS instances
  FROM operation_instance JOIN loop_bound USING (process_id) GROUP BY ALL
), _known AS (
  SELECT process_id, ANY_VALUE(from_ns) AS from_ns, MIN(until_ns) AS until_ns
  FROM (
    SELECT process_id, from_ns, until_ns FROM loop_bound
    UNION ALL
    SELECT process_id, from_ns, from_ns + part * part_ns
    FROM _counted JOIN loop_bound USING (process_id)
    QUALIFY SUM(instances) OVER (PARTITION BY process_id ORDER BY part)
      > $instances // (SELECT COUNT(*) FROM loop_bound))
  GROUP BY process_id
), _latest AS (
  SELECT process_id, operation_id, start_ns, end_ns, MAX(end_ns) OVER (PARTITION BY process_id
    ORDER BY start_ns, end_ns DESC, operation_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest_ns
  FROM open_interval JOIN _known USING (process_id) WHERE start_ns <= until_ns
), _pause AS (  -- those that end later than all before are in the order of their ends, too
  SELECT process_id, LAG(operation_id) OVER _in_order AS before_id, operation_id AS after_id,
    LAG(end_ns) OVER _in_order AS start_ns, start_ns AS end_ns
  FROM _latest WHERE latest_ns IS NULL OR end_ns > latest_ns
  WINDOW _in_order AS (PARTITION BY process_id ORDER BY end_ns)
), _pair AS (
  SELECT process_id, before_id, after_id, COUNT(*) AS pauses, SUM(end_ns - start_ns) AS duration_ns
  FROM _pause WHERE start_ns < end_ns GROUP BY ALL
), _name AS (
  SELECT operation_id, REGEXP_EXTRACT(path, '^(?:[^\\/]|\\.)*') AS outermost FROM operation
), _named AS (
  SELECT COALESCE(_before.outermost, '(not recorded)') AS before,
    COALESCE(_after.outermost, '(not recorded)') AS after,
    SUM(pauses) AS pauses, SUM(duration_ns) AS duration_ns
  FROM _pair LEFT JOIN _name AS _before ON _before.operation_id = before_id
    LEFT JOIN _name AS _after ON _after.operation_id = after_id
  GROUP BY ALL
), _folded AS (
  SELECT IF(rank <= $rows, before, '(other operations)') AS before,
    IF(rank <= $rows, after, '(other operations)') AS after,
    SUM(pauses) AS pauses, SUM(duration_ns) AS duration_ns
  FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY duration_ns DESC, before, after) AS rank FROM _named)
  GROUP BY ALL
), _rest AS (
  SELECT CASE
      WHEN process_id IN (SELECT process_id FROM loss WHERE kind = 'rolled_up') THEN 'rolled up'
      WHEN _known.until_ns < loop_bound.until_ns THEN 'later'
      ELSE 'other' END AS why,
    between_ns - COALESCE(known_ns, 0) AS duration_ns
  FROM loop_bound JOIN _known USING (process_id) LEFT JOIN (
    SELECT process_id, SUM(duration_ns) AS known_ns FROM _pair GROUP BY process_id) USING (process_id)
)
SELECT before, after, why, CAST(pauses AS BIGINT) AS pauses, CAST(duration_ns AS BIGINT) AS duration_ns,
  CAST(SUM(duration_ns) OVER () AS BIGINT) AS between_ns
FROM (
  SELECT before, after, NULL AS why, pauses, duration_ns FROM _folded
  UNION ALL
  SELECT NULL, NULL, why, NULL, SUM(duration_ns) AS rest_ns FROM _rest GROUP BY why HAVING rest_ns <> 0)
ORDER BY why IS NOT NULL, duration_ns DESC, before, after, why

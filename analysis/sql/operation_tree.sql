-- The tree of operations, parents before children, siblings by total time: one row per path.
--   self_ns   while it was the innermost open operation of its process's owner
--   total_ns  the same for it and everything inside it
--   total_corrected_ns, total_corrected_low_ns, total_corrected_high_ns
--             total_ns without what recording cost, with the ends of its 95 % interval; NULL without a
--             calibration
--   python_ns, simulator_ns, framework_ns, cuda_api_ns, wait_ns, none_ns, gpu_ns  parts of self_ns;
--             gpu_ns is the part with GPU work, which the six others contain too
--   whole_ns  time in the training loops of all processes that have one (the recorded time of all when
--             none has): what total_ns is a share of; NULL in the rows of start-up, warm-up, end and
--             gaps between windows, which are not in it
-- An automatic operation is in the row of the annotated one with its path, if there is one.
-- Only the $operations largest paths by total time; an enclosing path's total holds the others.
-- Then, where there was any, '(between operations)', '(start-up)', '(warm-up)', '(end)' and
-- '(not recorded)': with them the rows of depth 0 add up to the whole time of these processes, if none is left out.
-- Below start-up, warm-up and end stand the largest operations that lie there, by their outermost name:
-- four at most, each with 1 % of that time or more.
-- uses: counted_process
WITH RECURSIVE _spent AS (
  SELECT process_id, CASE
      WHEN operation = '(not recorded)' THEN operation
      WHEN stage IN ('start-up', 'warm-up', 'end') THEN '(' || stage || ')' || IF(operation = '(none)', '',
        '/' || REGEXP_EXTRACT(operation, '^(?:[^\\/]|\\.)*'))
      WHEN stage = 'loop' AND operation = '(none)' THEN '(between operations)'
      ELSE operation END AS path, layer, gpu_busy, duration_ns,
    corrected_ns, corrected_low_ns, corrected_high_ns
  FROM breakdown
), _self AS (
  SELECT path, SUM(duration_ns) AS self_ns, SUM(corrected_ns) AS corrected_ns,
    SUM(corrected_low_ns) AS corrected_low_ns, SUM(corrected_high_ns) AS corrected_high_ns,
    SUM(duration_ns) FILTER (layer = 'python') AS python_ns,
    SUM(duration_ns) FILTER (layer = 'simulator') AS simulator_ns,
    SUM(duration_ns) FILTER (layer = 'framework') AS framework_ns,
    SUM(duration_ns) FILTER (layer = 'cuda_api') AS cuda_api_ns,
    SUM(duration_ns) FILTER (layer = 'wait') AS wait_ns,
    SUM(duration_ns) FILTER (layer = 'none') AS none_ns,
    SUM(duration_ns) FILTER (gpu_busy) AS gpu_ns
  FROM _spent
  WHERE process_id IN (FROM counted_process)
  GROUP BY path
), _apart(path, parent) AS (  -- what has no row of its own in the relation
  SELECT path, NULLIF(REGEXP_EXTRACT(path, '^(\((?:start-up|warm-up|end)\))/', 1), '')
  FROM _self WHERE path NOT IN (SELECT path FROM operation)
  UNION
  SELECT stage, NULL FROM (VALUES ('(start-up)'), ('(warm-up)'), ('(end)')) AS _stage(stage)
  WHERE EXISTS (FROM _self WHERE STARTS_WITH(path, stage || '/'))
), _numbered AS (
  SELECT *, -1 - ROW_NUMBER() OVER (ORDER BY path) AS id FROM _apart
), _node AS (
  SELECT operation_id AS id, parent_operation_id AS parent, path, name, depth, 0 AS after
  FROM operation
  WHERE source = 'explicit' OR path NOT IN (SELECT path FROM operation WHERE source = 'explicit')
  UNION ALL
  SELECT child.id, _numbered.id, child.path,
    COALESCE(SUBSTRING(child.path, LENGTH(child.parent) + 2), child.path),
    IF(child.parent IS NULL, 0, 1), COALESCE(LIST_POSITION(
      ['(between operations)', '(start-up)', '(warm-up)', '(end)', '(not recorded)'],
      COALESCE(child.parent, child.path)), 0)
  FROM _numbered AS child LEFT JOIN _numbered ON _numbered.path = child.parent
), _enclosing(id, ancestor) AS (
  SELECT id, id FROM _node
  UNION ALL
  SELECT _enclosing.id, _node.parent FROM _enclosing JOIN _node ON _node.id = _enclosing.ancestor
  WHERE _node.parent IS NOT NULL AND _node.parent <> _node.id
), _total AS (
  SELECT ancestor AS id, SUM(self_ns) AS total_ns, SUM(corrected_ns) AS total_corrected_ns,
    SUM(corrected_low_ns) AS total_corrected_low_ns,
    SUM(corrected_high_ns) AS total_corrected_high_ns
  FROM _enclosing JOIN _node USING (id) JOIN _self USING (path) GROUP BY ancestor
), _kept AS (
  SELECT _node.*, _total.* EXCLUDE (id), ROW_NUMBER() OVER (ORDER BY after, total_ns DESC, path) AS rank,
    ROW_NUMBER() OVER (PARTITION BY parent ORDER BY total_ns DESC, path) AS sibling
  FROM _node JOIN _total USING (id)
), _placed(id, place) AS (
  SELECT id, [rank] FROM _kept WHERE parent IS NULL OR parent NOT IN (SELECT id FROM _kept)
  UNION ALL
  SELECT _kept.id, list_append(place, _kept.rank) FROM _kept JOIN _placed ON _kept.parent = _placed.id
)
SELECT path AS operation, name, depth,
  CAST(COALESCE(self_ns, 0) AS BIGINT) AS self_ns, CAST(total_ns AS BIGINT) AS total_ns,
  CAST(total_corrected_ns AS BIGINT) AS total_corrected_ns,
  CAST(total_corrected_low_ns AS BIGINT) AS total_corrected_low_ns,
  CAST(total_corrected_high_ns AS BIGINT) AS total_corrected_high_ns,
  CAST(COALESCE(python_ns, 0) AS BIGINT) AS python_ns,
  CAST(COALESCE(simulator_ns, 0) AS BIGINT) AS simulator_ns,
  CAST(COALESCE(framework_ns, 0) AS BIGINT) AS framework_ns,
  CAST(COALESCE(cuda_api_ns, 0) AS BIGINT) AS cuda_api_ns,
  CAST(COALESCE(wait_ns, 0) AS BIGINT) AS wait_ns,
  CAST(COALESCE(none_ns, 0) AS BIGINT) AS none_ns,
  CAST(COALESCE(gpu_ns, 0) AS BIGINT) AS gpu_ns,
  IF(after > 1, NULL, CAST((SELECT SUM(self_ns) FROM _self
    WHERE path <> '(not recorded)'
      AND NOT REGEXP_MATCHES(path, '^\((start-up|warm-up|end)\)')) AS BIGINT)) AS whole_ns
FROM _kept JOIN _placed USING (id) LEFT JOIN _self USING (path)
WHERE CASE WHEN after = 0 THEN rank <= $operations WHEN depth = 0 THEN TRUE
  ELSE sibling <= 4 AND total_ns >= 0.01 * (SELECT total_ns FROM _total WHERE id = parent) END
ORDER BY place

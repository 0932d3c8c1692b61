-- Nodes of the tree of operations, one row per path: analysis/operation_tree.py adds them up.
--   id, parent  ids of operations, and negative ones of times around the loop; NULL: outermost
--   after       0: an operation; else the place of '(between operations)', '(start-up)', '(warm-up)',
--               '(end)' and '(not recorded)', and of the operations in them, by their outermost name
--   self_ns     while it was the innermost open operation of its process's owner; NULL: never
--   corrected_ns, corrected_low_ns, corrected_high_ns
--               the same without what recording cost, with the ends of its 95 % interval
--   python_ns, simulator_ns, framework_ns, cuda_api_ns, wait_ns, none_ns, gpu_ns  parts of self_ns;
--               gpu_ns is the part with GPU work, which the six others contain too
-- An automatic operation is in the row of the annotated one with its path, if there is one.
-- uses: counted_process
WITH _spent AS (
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
)
SELECT id, parent, path AS operation, name, depth, after, CAST(self_ns AS BIGINT) AS self_ns,
  CAST(corrected_ns AS BIGINT) AS corrected_ns, CAST(corrected_low_ns AS BIGINT) AS corrected_low_ns,
  CAST(corrected_high_ns AS BIGINT) AS corrected_high_ns,
  CAST(COALESCE(python_ns, 0) AS BIGINT) AS python_ns,
  CAST(COALESCE(simulator_ns, 0) AS BIGINT) AS simulator_ns,
  CAST(COALESCE(framework_ns, 0) AS BIGINT) AS framework_ns,
  CAST(COALESCE(cuda_api_ns, 0) AS BIGINT) AS cuda_api_ns,
  CAST(COALESCE(wait_ns, 0) AS BIGINT) AS wait_ns,
  CAST(COALESCE(none_ns, 0) AS BIGINT) AS none_ns,
  CAST(COALESCE(gpu_ns, 0) AS BIGINT) AS gpu_ns
FROM _node LEFT JOIN _self USING (path)
ORDER BY after, operation

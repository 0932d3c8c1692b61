-- The tree of operations, parents before children, siblings by total time: one row per path.
--   self_ns   while it was the innermost open operation of its process's owner
--   total_ns  the same for it and everything inside it
--   python_ns, simulator_ns, framework_ns, cuda_api_ns, wait_ns, none_ns, gpu_ns  parts of self_ns;
--             gpu_ns is the part with GPU work, which the six others contain too
--   whole_ns  time from the first operation to the last of all processes with operations (the
--             recorded time of all when none has): what total_ns is a share of; NULL in the rows
--             of start-up, end and gaps between windows, which are not in it
-- An automatic operation is in the row of the annotated one with its path, if there is one.
-- Only the $operations largest paths by total time; an enclosing path's total holds the others.
-- Then, where there was any, '(between operations)', '(start-up)', '(end)' and '(not recorded)':
-- with them the rows of depth 0 add up to the whole time of these processes, if none is left out.
-- uses: counted_process
WITH RECURSIVE _spent AS (
  SELECT process_id, operation AS path, layer, gpu_busy, duration_ns FROM breakdown
  WHERE operation <> '(none)'
  UNION ALL
  SELECT process_id, CASE part WHEN 'start-up' THEN '(start-up)' WHEN 'end' THEN '(end)'
    WHEN 'between' THEN '(between operations)' ELSE '(none)' END, layer, gpu_busy, duration_ns
  FROM outside
), _self AS (
  SELECT path, SUM(duration_ns) AS self_ns,
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
), _node AS (
  SELECT operation_id AS id, parent_operation_id AS parent, path, name, depth, 0 AS after
  FROM operation
  WHERE source = 'explicit' OR path NOT IN (SELECT path FROM operation WHERE source = 'explicit')
  UNION ALL  -- time outside operations has no row of its own in the relation
  SELECT -1 - ROW_NUMBER() OVER (ORDER BY path), NULL, path, path, 0, COALESCE(LIST_POSITION(
    ['(between operations)', '(start-up)', '(end)', '(not recorded)'], path), 0)
  FROM _self WHERE path NOT IN (SELECT path FROM operation)
), _enclosing(id, ancestor) AS (
  SELECT id, id FROM _node
  UNION ALL
  SELECT _enclosing.id, _node.parent FROM _enclosing JOIN _node ON _node.id = _enclosing.ancestor
  WHERE _node.parent IS NOT NULL AND _node.parent <> _node.id
), _total AS (
  SELECT ancestor AS id, SUM(self_ns) AS total_ns
  FROM _enclosing JOIN _node USING (id) JOIN _self USING (path) GROUP BY ancestor
), _kept AS (
  SELECT _node.*, total_ns, ROW_NUMBER() OVER (ORDER BY after, total_ns DESC, path) AS rank
  FROM _node JOIN _total USING (id)
), _placed(id, place) AS (
  SELECT id, [rank] FROM _kept WHERE parent IS NULL OR parent NOT IN (SELECT id FROM _kept)
  UNION ALL
  SELECT _kept.id, list_append(place, _kept.rank) FROM _kept JOIN _placed ON _kept.parent = _placed.id
)
SELECT path AS operation, name, depth,
  CAST(COALESCE(self_ns, 0) AS BIGINT) AS self_ns, CAST(total_ns AS BIGINT) AS total_ns,
  CAST(COALESCE(python_ns, 0) AS BIGINT) AS python_ns,
  CAST(COALESCE(simulator_ns, 0) AS BIGINT) AS simulator_ns,
  CAST(COALESCE(framework_ns, 0) AS BIGINT) AS framework_ns,
  CAST(COALESCE(cuda_api_ns, 0) AS BIGINT) AS cuda_api_ns,
  CAST(COALESCE(wait_ns, 0) AS BIGINT) AS wait_ns,
  CAST(COALESCE(none_ns, 0) AS BIGINT) AS none_ns,
  CAST(COALESCE(gpu_ns, 0) AS BIGINT) AS gpu_ns,
  IF(after > 1, NULL, CAST((SELECT SUM(self_ns) FROM _self
    WHERE path NOT IN ('(end)', '(start-up)', '(not recorded)')) AS BIGINT)) AS whole_ns
FROM _kept JOIN _placed USING (id) LEFT JOIN _self USING (path)
WHERE rank <= $operations OR after > 0
ORDER BY place

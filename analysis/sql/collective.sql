-- Processes that meet in collectives, the one that waits the longest first, with the others of its
-- group beside it.
--   loop_ns    length of its training loop; NULL: it has none
--   last_process, last_last  the process of the group that most often comes last, and how often
WITH _loop AS (
  SELECT process_id, CAST(SUM(duration_ns) AS BIGINT) AS loop_ns FROM training_loop
  WHERE stage = 'loop' GROUP BY process_id
), _met AS (
  SELECT collective.*, process.name AS process, parent_process_id AS family, loop_ns
  FROM collective JOIN process USING (process_id) LEFT JOIN _loop USING (process_id)
), _latest AS (
  SELECT name, family, ARG_MAX(process, (last, late_ns)) AS last_process, MAX(last) AS last_last
  FROM _met GROUP BY name, family
)
SELECT _met.process_id, process, _met.name, calls, meetings, duration_ns, waited_ns, last, late_ns,
  loop_ns, last_process, last_last
FROM _met JOIN _latest ON _latest.name = _met.name AND _latest.family IS NOT DISTINCT FROM _met.family
ORDER BY waited_ns DESC, process_id, _met.name
LIMIT $rows

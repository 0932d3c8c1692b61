-- The training loop that prices are of: one row, or none where no process has a training loop.
--   process_id  of those that count in shares, whose loop is at least a quarter of the longest one and does
--               not begin after that one has ended, the one that waits for other processes and sleeps for the least part of its loop, in whole
--               percents; of equals, the one that completed most iterations, and of these the one with the
--               longest loop
--   loop_ns     wall time of the loop
--   waited_ns   the part in which it waits for other processes, or for its thread that waits for them
--   starved_ns  waits of the loop for processes that do not wait for it, for a tenth of their lives or
--               more: while it works, they go on
--   run_ns      wall time of the run; of the loop where that is not known
--   iterations  complete ones
-- uses: looping_process, waited_share, beside_wait, own_iteration, loop_wait, paired_wait
WITH _state AS (
  SELECT process_id, layer, duration_ns,
    IF(operation = '(between operations)', '(none)', operation) AS operation
  FROM training_loop WHERE stage = 'loop' AND process_id IN (FROM looping_process)
), _wait AS (
  SELECT process_id, CAST(SUM(duration_ns) AS BIGINT) AS loop_ns,
    COALESCE(SUM(duration_ns * share) FILTER (layer = 'wait'), 0) AS other_ns,
    COALESCE(SUM(duration_ns * thread_share) FILTER (layer = 'wait'), 0) AS thread_ns,
    COALESCE(SUM(duration_ns * slept_share) FILTER (layer = 'wait'), 0) AS slept_ns
  FROM _state LEFT JOIN waited_share USING (process_id, operation) GROUP BY process_id
), _loop AS (
  SELECT process_id, loop_ns, slept_ns,
    CAST(other_ns + IF(self_ns > thread_ns / 2, thread_ns, 0) AS BIGINT) AS waited_ns
  FROM _wait LEFT JOIN (FROM beside_wait WHERE stage = 'loop') USING (process_id)
), _span AS (
  SELECT process_id, start_ns + COALESCE(SUM(duration_ns) FILTER (stage = 'start-up'), 0) AS begin_ns,
    end_ns - COALESCE(SUM(duration_ns) FILTER (stage = 'end'), 0) AS finish_ns
  FROM process JOIN breakdown USING (process_id) GROUP BY process_id, start_ns, end_ns
), _longest AS (
  SELECT loop_ns, finish_ns FROM _loop JOIN _span USING (process_id)
  ORDER BY loop_ns DESC, finish_ns DESC LIMIT 1
), _count AS (
  SELECT process_id, COUNT(*) AS iterations FROM own_iteration GROUP BY process_id
), _serving AS (
  SELECT waiting.process_id, UNNEST(waiting.peers) AS served_id
  FROM paired_wait AS waiting JOIN process USING (process_id) WHERE waiting.peers IS NOT NULL
  GROUP BY waiting.process_id, waiting.peers, start_ns, end_ns
  HAVING SUM(waiting.self_ns) >= 0.1 * (end_ns - start_ns)
), _starved AS (
  SELECT process_id, CAST(SUM(self_ns) AS BIGINT) AS starved_ns FROM loop_wait
  WHERE is_other AND peers IS NOT NULL AND NOT EXISTS (
    FROM _serving WHERE served_id = loop_wait.process_id
      AND LIST_CONTAINS(loop_wait.peers, _serving.process_id))
  GROUP BY process_id
)
SELECT process_id, loop_ns, waited_ns, COALESCE(starved_ns, 0) AS starved_ns,
  COALESCE((SELECT MAX(end_ns) - MIN(start_ns) FROM run), loop_ns) AS run_ns,
  COALESCE(iterations, 0) AS iterations
FROM _loop JOIN _span USING (process_id) LEFT JOIN _count USING (process_id)
  LEFT JOIN _starved USING (process_id)
WHERE loop_ns > 0 AND 4 * loop_ns >= (SELECT loop_ns FROM _longest)
  AND begin_ns < (SELECT finish_ns FROM _longest)
ORDER BY ROUND((waited_ns + slept_ns) / loop_ns, 2), COALESCE(iterations, 0) DESC, loop_ns DESC, process_id LIMIT 1

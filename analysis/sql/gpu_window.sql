-- Iterations of the processes whose GPU work was recorded in windows, by window and by kind.
--   window_id    the window that they are in, or nearest to, counted from 0. Window 0 is the beginning
--   zone         first: of its window; recorded: the others of it; whole: of a window that lasts because
--                windows were cheap until then (metadata gpu_share);
--                edge: the $before before a window and the $after after it, in which CUPTI is attached
--                and ended;
--                beside: as many as the window has, beyond the edge, on either side; far: others
--   operations   which ones the process was in: a number, the most frequent are 0
--   is_long      whether that took more than four times the median
--   iterations, duration_ns  complete iterations, and their time
--   kernels, busy_ns         what they launched; NULL: not recorded
-- Attaching and ending CUPTI take up to 25 ms, and make no long iteration of one.
-- uses: own_iteration
WITH _turn AS (
  SELECT process_id, each.at_ns AS at_ns FROM (
    SELECT process_id, UNNEST(FROM_JSON(value, '[{"at_ns": "BIGINT", "recorded": "VARCHAR"}]')) AS each
    FROM metadata WHERE key = 'gpu_share' AND json_valid(value))
  WHERE each.recorded = 'all'
), _operations AS (
  SELECT process_id, iteration, LIST_SORT(LIST(DISTINCT operation)) AS operations
  FROM iteration_breakdown
  WHERE iteration IS NOT NULL AND operation <> '(none)'
    AND process_id IN (SELECT process_id FROM loss WHERE kind = 'gpu_unrecorded')
  GROUP BY process_id, iteration
), _used AS (
  SELECT process_id, iteration, kernels, busy_ns, duration_ns, gpu_recorded, operations,
    MEDIAN(duration_ns) OVER (PARTITION BY process_id, operations) AS median_ns,
    ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY iteration) AS place,
    gpu_recorded AND NOT LAG(gpu_recorded, 1, FALSE)
      OVER (PARTITION BY process_id ORDER BY iteration) AS is_first,
    EXISTS (FROM _turn WHERE _turn.process_id = own_iteration.process_id
      AND at_ns >= start_ns AND at_ns < start_ns + duration_ns) AS has_turn
  FROM own_iteration LEFT JOIN _operations USING (process_id, iteration)
  WHERE process_id IN (SELECT process_id FROM loss WHERE kind = 'gpu_unrecorded')
), _near AS (
  SELECT *,
    SUM(CAST(is_first AS INTEGER)) OVER _until - 1 AS last_window,
    place - MAX(IF(gpu_recorded, place, NULL)) OVER _until AS after,
    MIN(IF(gpu_recorded, place, NULL)) OVER (PARTITION BY process_id ORDER BY place
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) - place AS before
  FROM _used WINDOW _until AS (PARTITION BY process_id ORDER BY place)
), _placed AS (
  SELECT *, IF(before IS NULL OR after <= before, last_window, last_window + 1) AS window_id
  FROM _near
), _sized AS (
  SELECT *, COUNT(IF(gpu_recorded, 1, NULL)) OVER _window AS size,
    BOOL_OR(gpu_recorded AND has_turn) OVER _window AS lasts
  FROM _placed WINDOW _window AS (PARTITION BY process_id, window_id)
), _zoned AS (
  SELECT *, CASE
    WHEN gpu_recorded AND lasts AND window_id > 0 THEN 'whole'
    WHEN is_first THEN 'first'
    WHEN gpu_recorded THEN 'recorded'
    WHEN after <= $after OR before <= $before THEN 'edge'
    WHEN after <= $after + size OR before <= $before + size THEN 'beside'
    ELSE 'far' END AS zone
  FROM _sized
), _known AS (
  SELECT *,
    duration_ns - IF(zone IN ('first', 'edge'), 25000000, 0) > 4 * median_ns AS is_long
  FROM _zoned
), _kind AS (
  SELECT process_id, operations,
    ROW_NUMBER() OVER (PARTITION BY process_id ORDER BY COUNT(*) DESC, operations) - 1 AS number
  FROM _used GROUP BY process_id, operations
)
SELECT _known.process_id, CAST(window_id AS BIGINT) AS window_id, zone, number AS operations, is_long,
  COUNT(*) AS iterations,
  CAST(SUM(duration_ns) AS BIGINT) AS duration_ns,
  CAST(SUM(kernels) FILTER (gpu_recorded) AS BIGINT) AS kernels,
  CAST(SUM(busy_ns) FILTER (gpu_recorded) AS BIGINT) AS busy_ns
FROM _known JOIN _kind ON _kind.process_id = _known.process_id
  AND _kind.operations IS NOT DISTINCT FROM _known.operations
GROUP BY _known.process_id, window_id, zone, number, is_long
ORDER BY _known.process_id, window_id, zone, number, is_long

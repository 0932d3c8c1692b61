-- How much of the run the numbers cover: one row over all processes.
--   recorded_ns, not_recorded_ns  wall time inside and outside windows
-- For the processes that have a training loop (for all if none has):
--   startup_ns, end_ns            before the loop, after it
--   warmup_ns                     between its begin and its end, in operations that prepare it
--   outside_ns                    everything that is in no loop
--   between_ns, inside_ns         in the loop between operations, and in them
--   span_ns                       the sum of these two: the whole of a report's shares
--   corrected_ns, corrected_low_ns, corrected_high_ns
--                                 the same without the cost of recording, with the ends of its 95 %
--                                 interval; NULL without a calibration
--   unknown_costs                 kinds of records that the correction leaves in; NULL without any
--   cost_method                   how the cost of most records was measured; NULL not at all
--   cuda_cost_method              where that of CUDA calls comes from; NULL without them
--   cpu_ns, profiler_cpu_ns       CPU time of the programs and of the profiler; NULL unknown
--   exit_flush_ns                 how long exits waited until all records were written; NULL unknown
--   events                        recorded intervals
--   operation_events, automatic_events, native_events, cuda_events
--                                 of these, by kind; the rest is GPU work
--   drainer_cpu_ns                CPU time of the wrapper's drainer; NULL not measured
--   longest_stall_ns              longest wait of the drainer for the disk; NULL below 1 ms
--   tasks                         processes whose asyncio tasks were distinguished at annotations only
--   mixed_greenlets               processes whose automatic operations hold calls of other greenlets
--   several_threads               processes in which more than one thread had operations
--   imported_marks                what marks operations in the files that were imported; NULL: none was
-- uses: looping_process, counted_process
WITH _counted AS (
  SELECT
    CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'start-up'), 0) AS BIGINT) AS startup_ns,
    CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'warm-up'), 0) AS BIGINT) AS warmup_ns,
    CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'end'), 0) AS BIGINT) AS end_ns,
    CAST(COALESCE(SUM(duration_ns) FILTER (stage NOT IN ('loop', 'whole')), 0) AS BIGINT)
      AS outside_ns,
    CAST(COALESCE(SUM(duration_ns) FILTER (stage IN ('loop', 'whole') AND operation = '(none)'), 0)
      AS BIGINT) AS between_ns,
    CAST(COALESCE(SUM(duration_ns) FILTER (stage IN ('loop', 'whole') AND operation <> '(none)'), 0)
      AS BIGINT) AS inside_ns,
    CAST(SUM(corrected_ns) FILTER (stage IN ('loop', 'whole')) AS BIGINT) AS corrected_ns,
    CAST(SUM(corrected_low_ns) FILTER (stage IN ('loop', 'whole')) AS BIGINT) AS corrected_low_ns,
    CAST(SUM(corrected_high_ns) FILTER (stage IN ('loop', 'whole')) AS BIGINT) AS corrected_high_ns
  FROM breakdown WHERE operation <> '(not recorded)' AND process_id IN (FROM counted_process)
), _operating AS (
  SELECT process_id FROM (
    SELECT DISTINCT process_id, thread_id FROM breakdown_by_thread
    WHERE operation NOT IN ('(none)', '(not recorded)'))
  GROUP BY process_id HAVING COUNT(*) > 1
)
SELECT
  CAST(COALESCE(SUM(duration_ns) FILTER (operation <> '(not recorded)'), 0) AS BIGINT)
    AS recorded_ns,
  CAST(COALESCE(SUM(duration_ns) FILTER (operation = '(not recorded)'), 0) AS BIGINT)
    AS not_recorded_ns,
  ANY_VALUE(startup_ns) AS startup_ns, ANY_VALUE(warmup_ns) AS warmup_ns, ANY_VALUE(end_ns) AS end_ns,
  ANY_VALUE(outside_ns) AS outside_ns,
  ANY_VALUE(between_ns) AS between_ns, ANY_VALUE(inside_ns) AS inside_ns,
  ANY_VALUE(inside_ns) + ANY_VALUE(between_ns) AS span_ns,
  ANY_VALUE(_counted.corrected_ns) AS corrected_ns,
  ANY_VALUE(_counted.corrected_low_ns) AS corrected_low_ns,
  ANY_VALUE(_counted.corrected_high_ns) AS corrected_high_ns,
  (SELECT method FROM calibration JOIN overhead USING (kind) WHERE samples > 0
    GROUP BY method ORDER BY SUM(overhead_ns) DESC LIMIT 1) AS cost_method,
  (SELECT MIN(method) FROM calibration JOIN overhead USING (kind) WHERE kind LIKE 'CUDA %')
    AS cuda_cost_method,
  (SELECT STRING_AGG(DISTINCT kind, ', ' ORDER BY kind) FROM overhead WHERE overhead_ns IS NULL)
    AS unknown_costs,
  (SELECT COUNT(*) FROM process) AS processes,
  (SELECT COUNT(*) FROM looping_process) AS looping_processes,
  (SELECT CAST(SUM(cpu_ns) AS BIGINT) FROM process) AS cpu_ns,
  (SELECT CAST(SUM(profiler_cpu_ns) AS BIGINT) FROM process) AS profiler_cpu_ns,
  (SELECT CAST(SUM(exit_flush_ns) AS BIGINT) FROM process) AS exit_flush_ns,
  (SELECT CAST(MAX(value) AS BIGINT) FROM machine_sample WHERE metric = 'drainer_cpu_ns')
    AS drainer_cpu_ns,
  (SELECT CAST(MAX(value) AS BIGINT) FROM machine_sample WHERE metric = 'longest_stall_ns')
    AS longest_stall_ns,
  (SELECT COUNT(DISTINCT process_id) FROM metadata
    WHERE key = 'asyncio' AND value LIKE '%at annotations%') AS tasks,
  (SELECT COUNT(DISTINCT process_id) FROM metadata
    WHERE key = 'greenlets' AND value LIKE '%inside each other%') AS mixed_greenlets,
  (SELECT CAST(SUM(events) AS BIGINT) FROM process) AS events,
  (SELECT CAST(SUM(operation_events) AS BIGINT) FROM process) AS operation_events,
  (SELECT CAST(SUM(automatic_events) AS BIGINT) FROM process) AS automatic_events,
  (SELECT CAST(SUM(native_events) AS BIGINT) FROM process) AS native_events,
  (SELECT CAST(SUM(cuda_events) AS BIGINT) FROM process) AS cuda_events,
  (SELECT CAST(SUM(file_bytes) AS BIGINT) FROM process) AS file_bytes,
  (SELECT COUNT(*) FROM _operating) AS several_threads,
  (SELECT STRING_AGG(DISTINCT json_extract_string(value, '$.marks.operation'), ' or ')
    FROM metadata WHERE key = 'rlscope.imported' AND json_valid(value)) AS imported_marks
FROM _counted LEFT JOIN breakdown ON TRUE

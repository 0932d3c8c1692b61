-- The relations of CUDA calls and GPU work of one process, in SQL, from what twin.sql leaves
-- (win, range, life, segment, thread_state, process_state) and the raw tuples:
--
--   cuda_call(thread, ord, start_ns, end_ns, name, correlation, status, site)
--   gpu_work(id, start_ns, end_ns, kind, device, stream, context, correlation, name, size, how, graph)
--
-- Leaves a table x_<relation> for each. No call may start at the very end of the process: a segment
-- has to begin there.

-- Recorded calls with their operations: (thread, ord, name, correlation, status, site, start_ns,
-- end_ns, operation). No call begins before the one before it ended.
CREATE OR REPLACE TEMP TABLE call AS
WITH forwards AS (
    SELECT thread, ord, name, correlation, status, site,
        LEAST(p.end_ns, GREATEST(p.start_ns, c.start_ns, COALESCE(MAX(c.end_ns) OVER (
            PARTITION BY thread ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
            p.start_ns))) AS start_ns,
        LEAST(p.end_ns, GREATEST(p.start_ns, MAX(c.end_ns) OVER (
            PARTITION BY thread ORDER BY ord))) AS end_ns
    FROM cuda_call AS c, process AS p
)
SELECT f.thread, f.ord, f.name, f.correlation, f.status, f.site, f.start_ns,
    LEAST(f.end_ns, win.end_ns, life.end_ns) AS end_ns,
    CASE WHEN s.outer_ns IS NULL AND NOT s.is_main THEN p.operation ELSE s.operation END
        AS operation
FROM forwards AS f
JOIN win ON f.start_ns >= win.start_ns AND f.start_ns < win.end_ns
JOIN life ON life.thread = f.thread AND f.start_ns < life.end_ns
JOIN thread_state AS s ON s.thread = f.thread AND s.start_ns = f.start_ns
JOIN process_state AS p ON p.start_ns = f.start_ns;

-- Windows as they hold GPU work, which may be older or live longer than its process.
CREATE OR REPLACE TEMP TABLE work_win AS
SELECT
    CASE WHEN win.start_ns = p.start_ns AND win.start_ns = r.start_ns THEN -1 ELSE win.start_ns
    END AS start_ns,
    CASE WHEN win.is_open THEN 1000000 ELSE win.end_ns END AS end_ns
FROM win, process AS p, range AS r;

-- Records of the GPU that count, each with its launch: (all of gpu_work, operation, call_start_ns,
-- call_end_ns, site); the latter NULL without one.
CREATE OR REPLACE TEMP TABLE counted AS
SELECT w.*, COALESCE(call.operation, '(unlinked)') AS operation,
    call.start_ns AS call_start_ns, call.end_ns AS call_end_ns, call.site
FROM gpu_work AS w
LEFT JOIN call ON call.correlation = w.correlation AND w.correlation <> 0
WHERE (w.kind = 'SYNC' AND call.thread IS NOT NULL)
   OR EXISTS (SELECT 1 FROM work_win WHERE w.start_ns < work_win.end_ns
              AND GREATEST(w.end_ns, w.start_ns + 1) > work_win.start_ns);

CREATE OR REPLACE TEMP TABLE work AS
SELECT *, end_ns - start_ns AS duration_ns,
    call_end_ns IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM gpu_work AS other
        WHERE other.kind NOT IN ('SYNC', 'OVERHEAD')
          AND (other.device, other.context, other.stream) = (c.device, c.context, c.stream)
          AND other.start_ns < c.start_ns AND other.end_ns > c.call_end_ns) AS launch_bound
FROM counted AS c WHERE kind NOT IN ('SYNC', 'OVERHEAD');

CREATE OR REPLACE TEMP TABLE x_api_call AS
SELECT name, operation, COUNT(*), SUM(end_ns - start_ns)::BIGINT,
    COUNT(*) FILTER (status NOT IN (0, 600)),
    COUNT(*) FILTER (correlation <> 0 AND EXISTS (
        SELECT 1 FROM gpu_work WHERE gpu_work.correlation = call.correlation
        AND gpu_work.kind NOT IN ('SYNC', 'OVERHEAD')))
FROM call GROUP BY name, operation;

CREATE OR REPLACE TEMP TABLE x_kernel AS
SELECT device, context, stream, name, operation, COUNT(*), SUM(duration_ns)::BIGINT,
    MIN(duration_ns), MAX(duration_ns), COUNT(*) FILTER (launch_bound)
FROM work WHERE kind = 'KERNEL' GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE x_graph AS
SELECT device, context, stream, graph, operation, COUNT(*), SUM(duration_ns)::BIGINT,
    MIN(duration_ns), MAX(duration_ns), COUNT(*) FILTER (launch_bound)
FROM work WHERE kind = 'GRAPH' GROUP BY ALL;

CREATE OR REPLACE TEMP MACRO memory_of(number) AS
    COALESCE(['pageable', 'pinned', 'device', NULL, 'managed'][number], 'unknown');

CREATE OR REPLACE TEMP TABLE x_memcpy AS
SELECT device, context, stream,
    CASE how & 15 WHEN 1 THEN 'host_to_device' WHEN 2 THEN 'device_to_host'
        WHEN 8 THEN 'device_to_device' WHEN 9 THEN 'host_to_host' WHEN 10 THEN 'peer_to_peer'
        ELSE 'unknown' END AS direction,
    memory_of(how >> 4) AS memory, operation, COUNT(*), SUM(size)::BIGINT, SUM(duration_ns)::BIGINT
FROM work WHERE kind = 'MEMCPY' GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE x_memset AS
SELECT device, context, stream, memory_of(how) AS memory, operation, COUNT(*), SUM(size)::BIGINT,
    SUM(duration_ns)::BIGINT
FROM work WHERE kind = 'MEMSET' GROUP BY ALL;

-- A synchronisation names a context; which device that is, its work says.
CREATE OR REPLACE TEMP TABLE x_sync AS
WITH place AS (
    SELECT context, MAX(device) AS device FROM gpu_work GROUP BY context
),
stop AS (
    SELECT id, context, stream, operation,
        CASE how WHEN 1 THEN 'event' WHEN 2 THEN 'stream_wait_event' WHEN 3 THEN 'stream'
            WHEN 4 THEN 'device' ELSE 'other' END AS kind,
        COALESCE(call_start_ns, start_ns) AS start_ns, COALESCE(call_end_ns, end_ns) AS end_ns
    FROM counted WHERE kind = 'SYNC'
),
awaited AS (
    SELECT stop.id, w.start_ns, w.end_ns
    FROM stop JOIN place USING (context), gpu_work AS w JOIN place AS there USING (context)
    WHERE w.kind NOT IN ('SYNC', 'OVERHEAD') AND stop.kind IN ('event', 'stream', 'device')
      AND CASE WHEN stop.kind = 'device' OR stop.stream IN (0, 4294967295)
               THEN there.device = place.device
               ELSE (w.context, w.stream) = (stop.context, stop.stream) END
),
waited AS (
    SELECT stop.id, SUM(s.end_ns - s.start_ns) AS waiting_ns
    FROM stop JOIN segment AS s ON s.start_ns >= stop.start_ns AND s.start_ns < stop.end_ns
    WHERE s.win IS NOT NULL AND EXISTS (
        SELECT 1 FROM awaited AS a
        WHERE a.id = stop.id AND a.start_ns <= s.start_ns AND a.end_ns > s.start_ns)
    GROUP BY stop.id
)
SELECT kind, operation, COUNT(*), SUM(end_ns - start_ns)::BIGINT,
    COALESCE(SUM(waiting_ns), 0)::BIGINT
FROM stop LEFT JOIN waited USING (id) GROUP BY kind, operation;

CREATE OR REPLACE TEMP TABLE x_gpu_time AS
WITH running AS (
    SELECT s.start_ns, s.end_ns - s.start_ns AS length_ns, w.device, w.operation AS launcher,
        p.operation AS owner
    FROM segment AS s JOIN process_state AS p ON p.start_ns = s.start_ns
    JOIN work AS w ON w.start_ns <= s.start_ns AND w.end_ns > s.start_ns
    WHERE s.win IS NOT NULL
),
part AS (
    SELECT DISTINCT start_ns, device, owner AS operation, length_ns AS while_ns, 0 AS launched_ns
    FROM running
    UNION ALL
    SELECT DISTINCT start_ns, device, launcher, 0, length_ns FROM running
)
SELECT device, operation, SUM(while_ns)::BIGINT, SUM(launched_ns)::BIGINT
FROM part GROUP BY device, operation;

-- Each segment's work is that of the piece that began first; the stage is that of the launch.
CREATE OR REPLACE TEMP TABLE x_call_site AS
WITH loop AS (
    SELECT COALESCE((SELECT MAX(end_ns) FROM set_up_pause), MIN(start_ns)) AS first_ns,
        MAX(end_ns) AS last_ns FROM stretch
),
part AS (
    SELECT site, operation, start_ns AS time_ns, 1 AS calls, 0 AS gpu_ns FROM call
    UNION ALL
    SELECT w.site, w.operation, COALESCE(w.call_start_ns, w.start_ns), 0, s.end_ns - s.start_ns
    FROM segment AS s JOIN work AS w ON w.start_ns <= s.start_ns AND w.end_ns > s.start_ns
    WHERE s.win IS NOT NULL
    QUALIFY ROW_NUMBER() OVER (PARTITION BY s.start_ns ORDER BY w.start_ns,
        w.device, w.context, w.stream, w.id) = 1
)
SELECT COALESCE(stack, '') AS stack,
    CASE WHEN first_ns IS NULL THEN 'whole' WHEN time_ns < first_ns THEN 'start-up'
        WHEN time_ns >= last_ns THEN 'end'
        WHEN plain_names(operation)[1] IN (
            'import', 'imports', 'setup', 'compilation', 'compile', 'warmup')
        THEN 'warm-up' ELSE 'loop' END AS stage,
    operation, SUM(calls)::BIGINT, SUM(gpu_ns)::BIGINT
FROM part CROSS JOIN loop LEFT JOIN known_stack ON node = site
WHERE EXISTS (SELECT 1 FROM call WHERE site <> 0)
GROUP BY ALL;

-- Work of calls that began in an iteration; the time of each segment is that of the piece that began
-- first.
CREATE OR REPLACE TEMP TABLE x_iteration_work AS
WITH placed AS (
    SELECT w.*, (SELECT ARG_MAX(number, place) FROM iteration AS i JOIN win USING (win)
        WHERE i.time_ns <= w.call_start_ns AND w.call_start_ns >= win.start_ns
          AND (w.call_start_ns < win.end_ns OR win.is_open)) AS iteration
    FROM work AS w
),
part AS (
    SELECT iteration, CAST(kind IN ('KERNEL', 'GRAPH') AS INTEGER) AS kernels, 0 AS busy_ns
    FROM placed
    UNION ALL
    SELECT iteration, 0, s.end_ns - s.start_ns
    FROM segment AS s JOIN placed AS w ON w.start_ns <= s.start_ns AND w.end_ns > s.start_ns
    WHERE s.win IS NOT NULL
    QUALIFY ROW_NUMBER() OVER (PARTITION BY s.start_ns ORDER BY w.start_ns,
        w.device, w.context, w.stream, w.id) = 1
)
SELECT iteration, SUM(kernels)::BIGINT, SUM(busy_ns)::BIGINT
FROM part WHERE iteration IS NOT NULL GROUP BY iteration;

-- Reasons of CUDA calls: (thread, start_ns, end_ns, reason). A copy goes on until the thread submits
-- something or waits.
CREATE OR REPLACE TEMP TABLE call_reason AS
WITH copy AS (
    SELECT correlation, ARG_MIN(how, (start_ns, device, context, stream, id)) AS how
    FROM gpu_work WHERE kind = 'MEMCPY' AND correlation <> 0 GROUP BY correlation
),
known AS (
    SELECT call.*, COALESCE(name LIKE 'cudaMemcpy%' AND how & 15 = 1 AND how >> 4 = 1, FALSE)
        AS copies, COALESCE(how & 15 = 2 AND how >> 4 = 1, FALSE) AS fetches
    FROM call LEFT JOIN copy USING (correlation)
),
followed AS (
    SELECT *, COALESCE(LAST_VALUE(CASE WHEN copies THEN TRUE WHEN name LIKE '%Synchronize'
        OR name LIKE 'cudaMemcpy%' OR name = 'cudaLaunchKernel' THEN FALSE END IGNORE NULLS)
        OVER (PARTITION BY thread ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        FALSE) AS after_copy
    FROM known
)
SELECT thread, start_ns, end_ns, CASE
    WHEN copies OR (after_copy AND name LIKE '%Synchronize') THEN 'copy'
    WHEN name LIKE '%Synchronize' OR name = 'cudaMemcpy' THEN 'synchronisation'
    WHEN name = 'cudaMemcpyAsync' AND fetches THEN 'synchronisation'
    WHEN name = 'cudaMalloc' THEN 'allocation'
    WHEN name = 'cuModuleLoadData' THEN 'compilation'
    ELSE 'launch' END AS reason
FROM followed;

-- The thread that decides: of those that count and are in the layer of the process, the owner, the
-- main thread without an owner, or the first one.
CREATE OR REPLACE TEMP TABLE x_idle AS
WITH inside AS (
    SELECT p.*, t.thread AS number, t.function,
        COALESCE(t.thread = owner.thread, t.is_main) AS is_first
    FROM process_state AS p
    LEFT JOIN owner ON owner.start_ns = p.start_ns
    LEFT JOIN thread_state AS t ON t.start_ns = p.start_ns AND t.layer = p.layer
        AND p.operation <> '(not recorded)'
        AND (t.thread = owner.thread
            OR (t.outer_ns IS NULL AND (owner.thread IS NULL OR NOT t.is_main)))
    QUALIFY ROW_NUMBER() OVER (PARTITION BY p.start_ns
        ORDER BY t.thread IS NULL, NOT COALESCE(t.thread = owner.thread, t.is_main), t.thread) = 1
)
SELECT stage, operation,
    ['none', 'wait', 'python', 'simulator', 'framework', 'cuda_api'][layer + 1] AS layer, busy,
    CASE
        WHEN layer = 5 THEN (SELECT reason FROM call_reason AS c WHERE c.thread = number
            AND c.start_ns <= i.start_ns AND c.end_ns > i.start_ns)
        WHEN layer = 1 AND (function = 'gil' OR function LIKE 'lock|%') THEN 'thread'
        WHEN layer = 1 AND function LIKE 'sleep|%' THEN 'sleep'
        WHEN layer = 1 THEN 'process'
        WHEN layer = 2 AND function LIKE 'gc:%' THEN 'collection'
        ELSE ['none', NULL, 'python', 'simulator', 'framework'][layer + 1]
    END AS reason,
    SUM(end_ns - start_ns)::BIGINT
FROM inside AS i JOIN stage USING (start_ns) GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE x_loss AS
SELECT 'gpu_work_without_launch', COUNT(*) FROM work WHERE call_end_ns IS NULL HAVING COUNT(*) > 0;

-- The process view and the per-thread view of one process, in SQL: elementary segments joined with
-- the instances open in them. Starts from the raw tuples:
--
--   process(start_ns, end_ns, python_begin_ns, python_end_ns, most_paths)
--   thread(thread, is_main, is_python)
--   known_item(thread, ord, time_ns, kind, name, duration_ns, number)   kind = name of the
--                                                                       enumerator; of missing.sql
--   cuda_call(thread, ord, start_ns, end_ns)
--   gpu_work(start_ns, end_ns, kind)
--   function(name, layer)              layer 1 wait, 2 python .. 5 cuda_api: the deepest counts
--   state(time_ns, awake)              awake: threads
--   thread_stack(time_ns, thread, node)
--   node(node, parent, function, line)  parent 0: none; function '': not known
--
-- and leaves `breakdown`, `breakdown_by_thread`, `iteration_breakdown` and `state_reading`. One
-- statement per step; each step's table is commented with its columns. A running maximum makes times run
-- forwards; parentheses of one name are matched by their depth; paths are followed to the root by a
-- recursion.

-- Items inside the process, in time order per thread: (thread, ord, time_ns, returns_ns, ...).
-- Nothing begins before the item before it has ended.
CREATE OR REPLACE TEMP TABLE ordered AS
SELECT
    thread, ord, kind, name, number,
    LEAST(p.end_ns, GREATEST(p.start_ns, item.time_ns, COALESCE(MAX(item.time_ns + duration_ns)
        OVER (PARTITION BY thread ORDER BY ord
              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), p.start_ns))) AS time_ns,
    LEAST(p.end_ns, GREATEST(p.start_ns, MAX(item.time_ns + duration_ns)
        OVER (PARTITION BY thread ORDER BY ord))) AS returns_ns,
    MAX(GREATEST(item.time_ns, begins_after)) OVER (PARTITION BY thread ORDER BY ord) AS said_ns
FROM (
    SELECT *, COALESCE(MAX(time_ns + duration_ns) OVER (PARTITION BY thread ORDER BY ord
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS begins_after
    FROM known_item
) AS item, process AS p;

-- Changes between recording and not: (time_ns, kind, place).
CREATE OR REPLACE TEMP TABLE switch AS
WITH edge AS (
    SELECT time_ns, kind, ROW_NUMBER() OVER (ORDER BY time_ns, said_ns, thread, ord) AS place
    FROM ordered WHERE kind IN ('WINDOW_START', 'WINDOW_STOP')
)
SELECT time_ns, kind, place FROM edge
QUALIFY kind IS DISTINCT FROM LAG(kind) OVER (ORDER BY place);

-- Windows: (win, start_ns, end_ns, is_open); the end of an open one still belongs to it.
CREATE OR REPLACE TEMP TABLE win AS
WITH began AS (
    SELECT 0 AS place, start_ns AS time_ns FROM process
    WHERE COALESCE((SELECT ARG_MIN(kind, place) FROM switch), 'WINDOW_STOP') = 'WINDOW_STOP'
    UNION ALL
    SELECT place, time_ns FROM switch WHERE kind = 'WINDOW_START'
)
SELECT
    began.place AS win,
    began.time_ns AS start_ns,
    COALESCE(stop.time_ns, p.end_ns) AS end_ns,
    stop.time_ns IS NULL AS is_open
FROM began CROSS JOIN process AS p
LEFT JOIN LATERAL (
    SELECT ARG_MIN(time_ns, place) AS time_ns FROM switch
    WHERE kind = 'WINDOW_STOP' AND place > began.place
) AS stop ON TRUE;

CREATE OR REPLACE TEMP TABLE range AS
SELECT MIN(start_ns) AS start_ns, MAX(end_ns) AS end_ns FROM win;

-- Recorded items, with the running task and the stretch between losses they lie in:
-- (thread, ord, kind, name, time_ns, returns_ns, win, task, epoch).
CREATE OR REPLACE TEMP TABLE recorded AS
WITH inside AS (
    SELECT ordered.*, win.win, win.end_ns AS win_end_ns
    FROM ordered JOIN win
      ON (ordered.time_ns >= win.start_ns AND ordered.time_ns < win.end_ns)
      OR (win.is_open AND ordered.time_ns = win.end_ns)
)
SELECT
    thread, ord, kind, name, number, time_ns, said_ns, LEAST(returns_ns, win_end_ns) AS returns_ns,
    win,
    COALESCE(LAST_VALUE(CASE WHEN kind = 'TASK' THEN number END IGNORE NULLS)
        OVER (PARTITION BY thread ORDER BY ord), 0) AS task,
    COUNT(*) FILTER (kind = 'GAP') OVER (PARTITION BY thread ORDER BY ord) AS epoch
FROM inside;

-- Where an epoch ends when nothing else closes what is open: (thread, win, epoch, time_ns).
CREATE OR REPLACE TEMP TABLE epoch_end AS
WITH closing AS (
    SELECT thread, win, epoch - 1 AS epoch, time_ns FROM recorded WHERE kind = 'GAP'
    UNION ALL
    SELECT thread, win, epoch, time_ns FROM recorded WHERE kind = 'THREAD_END'
    UNION ALL
    SELECT recorded.thread, recorded.win, recorded.epoch, win.end_ns
    FROM recorded JOIN win USING (win)
)
SELECT thread, win, epoch, MIN(time_ns) AS time_ns FROM closing GROUP BY ALL;

-- Entries and exits, each with the depth of its name in the stack of its task: an exit that takes
-- the depth below any depth so far has no partner there.
CREATE OR REPLACE TEMP TABLE in_task AS
WITH marked AS (
    SELECT *, SUM(CASE kind WHEN 'ENTER' THEN 1 ELSE -1 END) OVER task_sum AS raw_depth
    FROM recorded WHERE kind IN ('ENTER', 'EXIT')
    WINDOW task_sum AS (PARTITION BY thread, win, epoch, task, name ORDER BY ord)
)
SELECT *, raw_depth - LEAST(0, MIN(raw_depth) OVER task_so_far) AS depth,
       kind = 'EXIT' AND raw_depth < LEAST(0, COALESCE(MIN(raw_depth) OVER task_before, 0)) AS stray
FROM marked
WINDOW task_so_far AS (PARTITION BY thread, win, epoch, task, name ORDER BY ord),
       task_before AS (PARTITION BY thread, win, epoch, task, name ORDER BY ord
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);

-- The same for what was entered outside of tasks: exits that no task knew close it too.
CREATE OR REPLACE TEMP TABLE outside_tasks AS
WITH marked AS (
    SELECT *, SUM(CASE kind WHEN 'ENTER' THEN 1 ELSE -1 END) OVER base_sum AS base_depth
    FROM (SELECT * EXCLUDE (raw_depth, depth, stray) FROM in_task WHERE task = 0 OR stray)
    WINDOW base_sum AS (PARTITION BY thread, win, epoch, name ORDER BY ord)
)
SELECT *, base_depth - LEAST(0, MIN(base_depth) OVER base_so_far) AS depth,
       kind = 'EXIT' AND base_depth < LEAST(0, COALESCE(MIN(base_depth) OVER base_before, 0)) AS stray
FROM marked
WINDOW base_so_far AS (PARTITION BY thread, win, epoch, name ORDER BY ord),
       base_before AS (PARTITION BY thread, win, epoch, name ORDER BY ord
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);

-- Records of automatic tracks, which end with the thread's first explicit entry; `turn` numbers the
-- resolves: (thread, ord, kind, name, number, time_ns, win, epoch, turn).
CREATE OR REPLACE TEMP TABLE track AS
WITH before_entry AS (
    SELECT *, COUNT(*) FILTER (kind = 'ENTER') OVER (PARTITION BY thread ORDER BY ord) AS entries
    FROM recorded
)
SELECT thread, ord, kind, name, number, time_ns, win, epoch, COUNT(*) FILTER (kind = 'AUTO_RESOLVE')
           OVER (PARTITION BY thread, win, epoch ORDER BY ord) AS turn
FROM before_entry
WHERE entries = 0 AND kind IN ('AUTO_SEGMENT', 'AUTO_RESOLVE');

-- What a segment is after each resolve behind it: (thread, ord, turn, state, settled_ord), the
-- resolve that made it final.
CREATE OR REPLACE TEMP TABLE fate AS
WITH RECURSIVE followed(thread, win, epoch, ord, turn, state, settled_ord, settled_ns) AS (
    SELECT thread, win, epoch, ord, turn, number, NULL::INT, NULL::BIGINT
    FROM track WHERE kind = 'AUTO_SEGMENT'
    UNION ALL
    SELECT f.thread, f.win, f.epoch, f.ord, r.turn,
           CASE WHEN f.state BETWEEN 4 AND 9 THEN (r.number >> (4 * (f.state - 4))) & 15
                ELSE f.state END,
           CASE WHEN f.state BETWEEN 4 AND 9 AND ((r.number >> (4 * (f.state - 4))) & 15) NOT BETWEEN 4 AND 9 THEN r.ord
                ELSE f.settled_ord END,
           CASE WHEN f.state BETWEEN 4 AND 9 AND ((r.number >> (4 * (f.state - 4))) & 15) NOT BETWEEN 4 AND 9 THEN r.time_ns
                ELSE f.settled_ns END
    FROM followed AS f JOIN track AS r
      ON r.thread = f.thread AND r.win = f.win AND r.epoch = f.epoch
     AND r.kind = 'AUTO_RESOLVE' AND r.turn = f.turn + 1
)
SELECT thread, ord, MAX(turn) AS turn, ARG_MAX(state, turn) AS state,
       MAX(settled_ord) AS settled_ord, MAX(settled_ns) AS settled_ns
FROM followed GROUP BY thread, ord;

-- Stretches that were an evaluation, up to the last step in each: (thread, win, epoch, begin_ord,
-- last_ord).
CREATE OR REPLACE TEMP TABLE evaluation AS
WITH said AS (
    SELECT thread, win, epoch, ord, number >> 24 AS says, LEAD(number >> 24) OVER chain AS then_says,
           LEAD(ord) OVER chain AS then_ord
    FROM track WHERE kind = 'AUTO_RESOLVE' AND number >> 24 <> 0
    WINDOW chain AS (PARTITION BY thread, win, epoch ORDER BY ord)
)
SELECT said.thread, said.win, said.epoch, said.ord AS begin_ord, MAX(step.ord) AS last_ord
FROM said JOIN track AS step
  ON step.thread = said.thread AND step.win = said.win AND step.epoch = said.epoch
 AND step.ord BETWEEN said.ord AND then_ord
WHERE says = 1 AND then_says = 3 AND step.kind = 'AUTO_SEGMENT' AND step.number = 3
GROUP BY ALL;

-- Automatic operations, islands of touching segments of one name, which is a compiled function's or a
-- rule's: columns as of `instance`.
CREATE OR REPLACE TEMP TABLE automatic AS
WITH evaluated AS (
    SELECT track.*, last_ord IS NOT NULL AS is_evaluation
    FROM track LEFT JOIN evaluation AS e
      ON e.thread = track.thread AND e.win = track.win AND e.epoch = track.epoch
     AND track.ord BETWEEN begin_ord AND last_ord
),
named AS (
    SELECT track.thread, win, epoch, track.ord, time_ns AS start_ns,
        CASE WHEN is_evaluation THEN 'evaluation' ELSE CASE state WHEN 1 THEN 'inference' WHEN 2 THEN 'backprop' WHEN 3 THEN 'simulation'
                   WHEN 5 THEN 'inference' WHEN 9 THEN 'inference' WHEN 10 THEN 'target'
                   WHEN 11 THEN 'generation' WHEN 12 THEN 'advantage'
                   WHEN 13 THEN 'reference' WHEN 14 THEN 'reward'
                   WHEN 15 THEN 'replay'
                   WHEN 16 THEN track.name ELSE '' END END AS name,
        state = 16 AND NOT is_evaluation AS is_compiled,
        CASE WHEN NOT is_evaluation AND settled_ord < COALESCE(LEAD(track.ord) OVER chain, 1000000) THEN settled_ord
             ELSE LEAD(track.ord) OVER chain END AS end_ord,
        CASE WHEN NOT is_evaluation AND settled_ord < COALESCE(LEAD(track.ord) OVER chain, 1000000)
             THEN settled_ns
             ELSE LEAD(time_ns) OVER chain END AS end_ns
    FROM evaluated AS track JOIN fate USING (thread, ord)
    WINDOW chain AS (PARTITION BY track.thread, win, epoch ORDER BY track.ord)
),
begun AS (
    SELECT *, COUNT(*) FILTER (begins)
        OVER (PARTITION BY thread, win, epoch ORDER BY ord) AS island
    FROM (
        SELECT *, (name, is_compiled, start_ns) IS DISTINCT FROM LAG((name, is_compiled, end_ns))
            OVER (PARTITION BY thread, win, epoch ORDER BY ord) AS begins
        FROM named)
),
entered AS (
    SELECT thread, win, epoch, MIN(ord) AS ord, MIN(time_ns) AS time_ns
    FROM recorded WHERE kind = 'ENTER' GROUP BY ALL
)
SELECT begun.thread, MIN(begun.ord) AS ord, ANY_VALUE(name) || ' (automatic)' AS name, 0 AS task, begun.win,
       begun.epoch, MIN(start_ns) AS enter_ns,
       COALESCE(ARG_MAX_NULL(end_ns, begun.ord), ANY_VALUE(entered.time_ns),
                ANY_VALUE(epoch_end.time_ns)) AS exit_ns,
       COALESCE(ARG_MAX_NULL(end_ord, begun.ord), ANY_VALUE(entered.ord), 1000000) AS exit_ord
FROM begun JOIN epoch_end USING (thread, win, epoch) LEFT JOIN entered USING (thread, win, epoch)
WHERE name <> ''
GROUP BY begun.thread, begun.win, begun.epoch, island;

-- Operation instances: (thread, ord, name, task, win, epoch, enter_ns, exit_ns, exit_ord). At one
-- level of a name entries and exits alternate.
CREATE OR REPLACE TEMP TABLE instance AS
WITH levelled AS (
    SELECT thread, ord, kind, name, task, win, epoch, time_ns,
           depth + (kind = 'EXIT')::INT AS level, task AS stack
    FROM in_task WHERE task <> 0 AND NOT stray
    UNION ALL
    SELECT thread, ord, kind, name, task, win, epoch, time_ns,
           depth + (kind = 'EXIT')::INT AS level, 0 AS stack
    FROM outside_tasks WHERE NOT stray
),
paired AS (
    SELECT *, LEAD(time_ns) OVER level_so_far AS left_ns, LEAD(ord) OVER level_so_far AS left_ord
    FROM levelled
    WINDOW level_so_far AS (PARTITION BY thread, win, epoch, stack, name, level ORDER BY ord)
)
SELECT thread, paired.ord, name, stack AS task, win, epoch, paired.time_ns AS enter_ns,
       COALESCE(left_ns, epoch_end.time_ns) AS exit_ns,
       COALESCE(left_ord, 1000000) AS exit_ord
FROM paired JOIN epoch_end USING (thread, win, epoch)
WHERE kind = 'ENTER'
UNION ALL BY NAME
SELECT * FROM automatic;

-- The innermost operation around each entry: (thread, ord, name, parent_ord, parent_name).
CREATE OR REPLACE TEMP TABLE nested AS
SELECT child.thread, child.ord, child.name,
       ARG_MAX(parent.ord, (parent.task <> 0, parent.ord)) AS parent_ord,
       ARG_MAX(parent.name, (parent.task <> 0, parent.ord)) AS parent_name
FROM instance AS child
LEFT JOIN instance AS parent
  ON parent.thread = child.thread AND parent.win = child.win AND parent.epoch = child.epoch
 AND parent.ord < child.ord AND parent.exit_ord > child.ord
 AND parent.task IN (0, child.task)
GROUP BY child.thread, child.ord, child.name;

-- (thread, ord, path), from the roots down; an operation directly inside itself keeps its path.
CREATE OR REPLACE TEMP TABLE uncapped_path AS
WITH RECURSIVE followed(thread, ord, path, names) AS (
    SELECT thread, ord, REPLACE(REPLACE(name, '\', '\\'), '/', '\/'), 1
    FROM nested WHERE parent_ord IS NULL
    UNION ALL
    SELECT nested.thread, nested.ord,
           CASE WHEN nested.name = nested.parent_name THEN followed.path
                ELSE followed.path || '/' || REPLACE(REPLACE(nested.name, '\', '\\'), '/', '\/')
           END,
           names + (nested.name <> nested.parent_name)::INT
    FROM nested JOIN followed
      ON followed.thread = nested.thread AND followed.ord = nested.parent_ord
)
SELECT * FROM followed;

-- The same, in which all but the first paths, and those of more than 512 names, are (other):
-- (thread, ord, path).
CREATE OR REPLACE TEMP TABLE path AS
WITH ranked AS (
    SELECT thread, ord, path, names,
           DENSE_RANK() OVER (PARTITION BY names > 512 ORDER BY first_thread, first_ord) AS place
    FROM (SELECT *, FIRST_VALUE(thread) OVER by_path AS first_thread,
                 FIRST_VALUE(ord) OVER by_path AS first_ord
          FROM uncapped_path WINDOW by_path AS (PARTITION BY path ORDER BY thread, ord))
)
SELECT thread, ord, CASE WHEN place <= most_paths AND names <= 512 THEN path ELSE '(other)' END AS path
FROM ranked, process;

-- Begins and ends of native calls and callbacks, numbered per epoch; a complete call is two steps:
-- (thread, win, epoch, step, time_ns, what, layer, name); layer 1: a wait.
CREATE OR REPLACE TEMP TABLE frame_step AS
WITH halved AS (
    SELECT thread, win, epoch, ord, 0 AS half, time_ns, name,
           CASE kind WHEN 'CALL' THEN 'CALL_BEGIN' ELSE kind END AS what
    FROM recorded
    WHERE kind IN ('CALL', 'CALL_BEGIN', 'CALL_END', 'CALLBACK_BEGIN', 'CALLBACK_END')
    UNION ALL
    SELECT thread, win, epoch, ord, 1, returns_ns, name, 'CALL_END'
    FROM recorded WHERE kind = 'CALL'
)
SELECT thread, win, epoch, time_ns, what, COALESCE(layer, 2) AS layer, name,
       ROW_NUMBER() OVER (PARTITION BY thread, win, epoch ORDER BY ord, half) AS step
FROM halved LEFT JOIN function USING (name);

-- The calls and callbacks open after each step, outermost first, as 'c' (call), 'w' (wait), 'g'
-- (collection) and 'b' (callback) with their layers and names: (thread, win, epoch, step, kinds,
-- layers, names).
CREATE OR REPLACE TEMP TABLE frame AS
WITH RECURSIVE replayed(thread, win, epoch, step, kinds, layers, names) AS (
    SELECT DISTINCT thread, win, epoch, 0::BIGINT, '', []::INT[], []::TEXT[] FROM frame_step
    UNION ALL
    SELECT r.thread, r.win, r.epoch, s.step,
        CASE s.what
            WHEN 'CALL_BEGIN' THEN r.kinds || CASE WHEN s.layer = 1 THEN 'w'
                WHEN s.name LIKE 'gc:generation %' THEN 'g' ELSE 'c' END
            WHEN 'CALLBACK_BEGIN' THEN r.kinds || 'b'
            WHEN 'CALL_END' THEN CASE WHEN regexp_matches(r.kinds, '[cgw]')
                THEN regexp_replace(r.kinds, '[cgw]b*$', '') ELSE r.kinds END
            ELSE CASE WHEN r.kinds LIKE '%b%'
                THEN regexp_replace(r.kinds, 'b[cgw]*$', '') ELSE r.kinds END
        END AS kinds,
        CASE WHEN s.what LIKE '%BEGIN' THEN list_append(r.layers[:length(r.kinds)], s.layer)
             ELSE r.layers END,
        CASE WHEN s.what LIKE '%BEGIN' THEN list_append(r.names[:length(r.kinds)], s.name)
             ELSE r.names END
    FROM replayed AS r JOIN frame_step AS s
      ON s.thread = r.thread AND s.win = r.win AND s.epoch = r.epoch AND s.step = r.step + 1
)
SELECT * FROM replayed;

-- When a thread lives: (thread, is_main, is_python, start_ns, end_ns).
CREATE OR REPLACE TEMP TABLE life AS
WITH first_record AS (
    SELECT thread, MIN(time_ns) AS time_ns FROM (
        SELECT thread, time_ns FROM ordered
        UNION ALL SELECT thread, GREATEST(start_ns, (SELECT start_ns FROM process)) FROM cuda_call
    ) GROUP BY thread
),
main AS (
    SELECT MIN(thread) AS thread FROM thread JOIN first_record USING (thread) WHERE is_main
)
SELECT thread, thread IS NOT DISTINCT FROM main.thread AS is_main, is_python,
       LEAST(r.end_ns, GREATEST(r.start_ns, CASE
           WHEN thread = main.thread
           THEN LEAST(first_record.time_ns, COALESCE(python_begin_ns, first_record.time_ns))
           ELSE first_record.time_ns END)) AS start_ns,
       LEAST(r.end_ns, COALESCE((SELECT MIN(time_ns) FROM ordered
           WHERE ordered.thread = thread.thread AND kind = 'THREAD_END'), r.end_ns)) AS end_ns
FROM thread JOIN first_record USING (thread), main, process, range AS r;

-- CUDA calls one after the other, cut at the end of the window they begin in.
CREATE OR REPLACE TEMP TABLE cuda AS
WITH forwards AS (
    SELECT thread,
        LEAST(p.end_ns, GREATEST(p.start_ns, c.start_ns, COALESCE(MAX(c.end_ns) OVER (
            PARTITION BY thread ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
            p.start_ns))) AS start_ns,
        LEAST(p.end_ns, GREATEST(p.start_ns, MAX(c.end_ns) OVER (
            PARTITION BY thread ORDER BY ord))) AS end_ns
    FROM cuda_call AS c, process AS p
)
SELECT forwards.thread, forwards.start_ns, LEAST(forwards.end_ns, win.end_ns) AS end_ns
FROM forwards JOIN win
  ON forwards.start_ns >= win.start_ns AND forwards.start_ns < win.end_ns;

-- Elementary segments: (start_ns, end_ns, win), win NULL between windows.
CREATE OR REPLACE TEMP TABLE segment AS
WITH cut AS (
    SELECT UNNEST([time_ns, returns_ns]) AS time_ns FROM ordered
    UNION SELECT UNNEST([start_ns, end_ns]) FROM cuda
    UNION SELECT UNNEST([start_ns, end_ns]) FROM gpu_work
    UNION SELECT UNNEST([start_ns, end_ns]) FROM win
    UNION SELECT UNNEST([start_ns, end_ns]) FROM life
    UNION SELECT UNNEST([python_begin_ns, python_end_ns]) FROM process
),
between_cuts AS (
    SELECT time_ns AS start_ns, LEAD(time_ns) OVER (ORDER BY time_ns) AS end_ns
    FROM cut, range AS r WHERE time_ns BETWEEN r.start_ns AND r.end_ns
)
SELECT s.start_ns, s.end_ns, win.win
FROM between_cuts AS s
LEFT JOIN win ON s.start_ns >= win.start_ns AND s.start_ns < win.end_ns
WHERE s.end_ns IS NOT NULL;

-- Phase and GPU of each segment: (start_ns, end_ns, win, phase, busy).
CREATE OR REPLACE TEMP TABLE around AS
SELECT s.*,
    COALESCE(NULLIF(CASE WHEN s.win IS NOT NULL THEN (
        SELECT ARG_MAX(name, (time_ns, said_ns, thread, ord)) FROM recorded
        WHERE kind = 'PHASE' AND recorded.win = s.win AND time_ns <= s.start_ns) END, ''),
        '(none)') AS phase,
    s.win IS NOT NULL AND EXISTS (
        SELECT 1 FROM gpu_work
        WHERE kind NOT IN ('SYNC', 'OVERHEAD') AND gpu_work.start_ns <= s.start_ns AND gpu_work.end_ns > s.start_ns
    ) AS busy
FROM segment AS s;

-- Every living thread in every segment: the stack's both ends and the layer.
-- (start_ns, thread, is_main, outer_ns, outer_operation, operation, layer, function); outer_ns NULL:
-- nothing open; function: of the wait or collection that it is in.
CREATE OR REPLACE TEMP TABLE thread_state AS
WITH living AS (
    SELECT s.start_ns, s.win, life.thread, is_main, is_python, COALESCE((
        SELECT ARG_MAX(task, ord) FROM recorded
        WHERE recorded.thread = life.thread AND time_ns <= s.start_ns), 0) AS task
    FROM segment AS s JOIN life ON s.start_ns >= life.start_ns AND s.start_ns < life.end_ns
),
stack AS (
    SELECT l.start_ns, l.thread,
        ARG_MIN(i.enter_ns, (i.task <> 0, i.ord)) AS outer_ns,
        ARG_MIN(path.path, (i.task <> 0, i.ord)) AS outer_operation,
        ARG_MAX(path.path, (i.task <> 0, i.ord)) AS operation
    FROM living AS l
    JOIN instance AS i ON i.thread = l.thread AND i.win = l.win AND i.task IN (0, l.task)
     AND i.enter_ns <= l.start_ns AND i.exit_ns > l.start_ns
    JOIN path ON path.thread = i.thread AND path.ord = i.ord
    GROUP BY l.start_ns, l.thread
),
in_frame AS (
    SELECT l.start_ns, l.thread, ARG_MAX(f.kinds, f.step) AS kinds,
        ARG_MAX(f.layers, f.step) AS layers, ARG_MAX(f.names, f.step) AS names
    FROM living AS l
    JOIN frame_step AS s ON s.thread = l.thread AND s.win = l.win AND s.time_ns <= l.start_ns
    JOIN frame AS f
      ON f.thread = s.thread AND f.win = s.win AND f.epoch = s.epoch AND f.step = s.step
    WHERE s.epoch = (SELECT COUNT(*) FROM recorded
                     WHERE recorded.thread = l.thread AND kind = 'GAP' AND time_ns <= l.start_ns)
    GROUP BY l.start_ns, l.thread
)
SELECT l.start_ns, l.thread, l.is_main, outer_ns, outer_operation, COALESCE(operation, '(none)') AS operation,
    CASE
        WHEN l.win IS NULL THEN 0
        WHEN EXISTS (SELECT 1 FROM cuda WHERE cuda.thread = l.thread
                     AND cuda.start_ns <= l.start_ns AND cuda.end_ns > l.start_ns) THEN 5
        WHEN regexp_matches(kinds, '[gw]c*$') THEN layers[length(regexp_replace(kinds, 'c*$', ''))]
        -- A wait or a collection, also with calls inside; else the outermost call since the last
        -- callback; just after a callback, python.
        WHEN kinds LIKE '%c' THEN layers[length(regexp_replace(kinds, 'c+$', '')) + 1]
        WHEN kinds LIKE '%b' THEN 2
        WHEN l.is_python
         AND (NOT l.is_main OR l.start_ns >= COALESCE(p.python_begin_ns, l.start_ns))
         AND l.start_ns < COALESCE(p.python_end_ns, l.start_ns + 1) THEN 2
        ELSE 0
    END AS layer,
    CASE WHEN regexp_matches(kinds, '[gw]c*$') THEN names[length(regexp_replace(kinds, 'c*$', ''))]
    END AS function
FROM living AS l CROSS JOIN process AS p
LEFT JOIN stack ON stack.start_ns = l.start_ns AND stack.thread = l.thread
LEFT JOIN in_frame ON in_frame.start_ns = l.start_ns AND in_frame.thread = l.thread;

-- The owner of each segment: the main thread if it has an operation, else the one that began first.
CREATE OR REPLACE TEMP TABLE owner AS
SELECT start_ns, ARG_MIN(thread, (NOT is_main, outer_ns, thread)) AS thread,
       ARG_MIN(operation, (NOT is_main, outer_ns, thread)) AS operation,
       ARG_MIN(outer_operation, (NOT is_main, outer_ns, thread)) AS outer_operation
FROM thread_state WHERE outer_ns IS NOT NULL GROUP BY start_ns;

CREATE OR REPLACE TEMP TABLE process_state AS
SELECT a.start_ns, a.end_ns, 0 AS thread, a.phase, a.busy,
    CASE WHEN a.win IS NULL THEN '(not recorded)'
         ELSE COALESCE(ANY_VALUE(owner.operation), '(none)') END AS operation,
    COALESCE(MAX(t.layer) FILTER (t.thread = owner.thread
        OR (t.outer_ns IS NULL AND (owner.thread IS NULL OR NOT t.is_main))), 0) AS layer
FROM around AS a
LEFT JOIN thread_state AS t ON t.start_ns = a.start_ns
LEFT JOIN owner ON owner.start_ns = a.start_ns
GROUP BY a.start_ns, a.end_ns, a.win, a.phase, a.busy;

-- Iterations: (number, win, time_ns, place). Of each source those of the thread that began first;
-- the automatic ones end with the first of the program's own.
CREATE OR REPLACE TEMP TABLE iteration AS
WITH record AS (
    SELECT thread, win, time_ns, number & 1 = 1 AS automatic,
        ROW_NUMBER() OVER (ORDER BY time_ns, said_ns, thread, ord) AS place
    FROM recorded WHERE kind = 'ITERATION'
),
counted AS (
    SELECT * FROM record
    WHERE NOT automatic
       OR place < COALESCE((SELECT MIN(place) FROM record WHERE NOT automatic), place + 1)
    QUALIFY thread = FIRST_VALUE(thread) OVER (PARTITION BY automatic ORDER BY place)
)
SELECT win, time_ns, place, ROW_NUMBER() OVER (ORDER BY place) - 1 AS number FROM counted;

CREATE OR REPLACE TEMP TABLE iteration_breakdown AS
WITH placed AS (
    SELECT s.*, COALESCE((SELECT ARG_MAX(number, place) FROM iteration AS i
        WHERE i.win = a.win AND i.time_ns <= s.start_ns), -1) AS iteration
    FROM process_state AS s JOIN around AS a USING (start_ns)
)
SELECT iteration, operation, layer, busy, SUM(end_ns - start_ns)::BIGINT AS duration_ns
FROM placed GROUP BY ALL;

-- Names of a path, as they are compared.
CREATE OR REPLACE TEMP MACRO plain_names(path) AS list_transform(
    regexp_extract_all(path, '(?:[^/\\]|\\.)+'),
    x -> lower(split_part(regexp_replace(x, ' \(automatic\)$', ''), ':', 1)));

CREATE OR REPLACE TEMP MACRO is_of_loop(path) AS plain_names(path)[1] NOT IN (
    'import', 'imports', 'setup', 'compilation', 'compile', 'warmup', 'loading', 'load', 'saving',
    'save', 'checkpoint', 'closing', 'evaluation', 'evaluate', 'eval', 'validation', 'validate',
    'rendering', 'render');

CREATE OR REPLACE TEMP MACRO is_warm_up(path) AS plain_names(path)[1] IN (
    'import', 'imports', 'setup', 'compilation', 'compile', 'warmup');

-- Segments of the loop's operations; stretches: islands of these.
CREATE OR REPLACE TEMP TABLE looping AS
SELECT s.start_ns, s.end_ns, plain_names(outer_operation)[1] AS name
FROM owner JOIN segment AS s USING (start_ns)
WHERE win IS NOT NULL AND is_of_loop(outer_operation);

CREATE OR REPLACE TEMP TABLE stretch AS
WITH compared AS (
    SELECT *, start_ns IS DISTINCT FROM LAG(end_ns) OVER (ORDER BY start_ns) AS begins FROM looping
),
numbered AS (
    SELECT *, COUNT(*) FILTER (begins) OVER (ORDER BY start_ns) AS number FROM compared
)
SELECT number, MIN(start_ns) AS start_ns, MAX(end_ns) AS end_ns FROM numbered GROUP BY number;

-- Pauses between stretches: recorded length, what of it no operation owns, recorded time before it
-- since the first stretch. Warm-up is in none of these.
CREATE OR REPLACE TEMP TABLE pause AS
WITH placed AS (
    SELECT number, LAG(end_ns) OVER (ORDER BY number) AS start_ns, start_ns AS end_ns FROM stretch
    QUALIFY number > 1
),
counted AS (
    SELECT s.start_ns, s.end_ns - s.start_ns AS ns, owner.thread IS NULL AS idle
    FROM segment AS s LEFT JOIN owner USING (start_ns) JOIN process_state AS p USING (start_ns)
    WHERE win IS NOT NULL AND NOT is_warm_up(p.operation)
)
SELECT number, g.start_ns, g.end_ns,
    COALESCE(SUM(ns) FILTER (c.start_ns >= g.start_ns), 0) AS length_ns,
    COALESCE(SUM(ns) FILTER (c.start_ns >= g.start_ns AND idle), 0) AS idle_ns,
    COALESCE(SUM(ns) FILTER (c.start_ns < g.start_ns), 0) AS before_ns
FROM placed AS g LEFT JOIN counted AS c
    ON c.start_ns < g.end_ns AND c.start_ns >= (SELECT MIN(start_ns) FROM stretch)
GROUP BY number, g.start_ns, g.end_ns;

CREATE OR REPLACE TEMP TABLE set_up_pause AS
WITH learning AS (
    SELECT MIN(start_ns) AS first_ns FROM process_state
    WHERE is_of_loop(operation) AND list_has_any(plain_names(operation), ['learning', 'learn',
        'backprop', 'backward', 'loss', 'optimizer', 'optimiser', 'optimize', 'optimizer_step',
        'gradient', 'gradients', 'update', 'train_step', 'training_step', 'target', 'target_update',
        'advantage', 'advantages'])
),
new_name AS (
    SELECT MIN(start_ns) AS first_ns FROM looping GROUP BY name
)
SELECT g.* FROM pause AS g, learning
WHERE g.length_ns * IF(g.number > 64, 1, 10) >= g.before_ns
  AND (learning.first_ns IS NULL OR learning.first_ns >= g.end_ns)
  AND (SELECT MAX(first_ns) FROM new_name) >= g.end_ns
  AND (SELECT COUNT(*) FROM pause AS o WHERE o.number > g.number AND o.idle_ns * 3 >= g.length_ns) < 2;

-- Where in the process's life each segment lies: before, in, or after its training loop.
CREATE OR REPLACE TEMP TABLE stage AS
WITH span AS (
    SELECT COALESCE((SELECT MAX(end_ns) FROM set_up_pause), MIN(start_ns)) AS first_ns,
           MAX(end_ns) AS last_ns FROM stretch
)
SELECT p.start_ns, CASE WHEN first_ns IS NULL THEN 'whole' WHEN p.start_ns < first_ns THEN 'start-up'
    WHEN p.start_ns >= last_ns THEN 'end'
    WHEN is_warm_up(operation) THEN 'warm-up' ELSE 'loop' END AS stage
FROM process_state AS p, span;

-- Rows: durations, and how many separate stretches, of equal neighbours.
CREATE OR REPLACE TEMP TABLE breakdown_by_thread AS
WITH labelled AS (
    SELECT process_state.*, stage FROM process_state JOIN stage USING (start_ns)
    UNION ALL BY NAME
    SELECT a.start_ns, a.end_ns, t.thread, a.phase, a.busy, t.layer,
           CASE WHEN a.win IS NULL THEN '(not recorded)' ELSE t.operation END AS operation
    FROM around AS a JOIN thread_state AS t ON t.start_ns = a.start_ns
),
compared AS (
    SELECT *, (phase, operation, layer, busy, start_ns) IS DISTINCT FROM
        LAG((phase, operation, layer, busy, end_ns)) OVER (PARTITION BY thread ORDER BY start_ns)
        AS begins
    FROM labelled
)
SELECT thread, stage, phase, operation, layer, busy,
       SUM(end_ns - start_ns)::BIGINT AS duration_ns, COUNT(*) FILTER (begins) AS count
FROM compared GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE breakdown AS
SELECT * EXCLUDE (thread) FROM breakdown_by_thread WHERE thread = 0;
DELETE FROM breakdown_by_thread WHERE thread = 0;

-- Stacks of which all is known: (node, stack), the outermost call first.
CREATE OR REPLACE TEMP TABLE known_stack AS
WITH RECURSIVE stack AS (
    SELECT node, function || ':' || line AS stack FROM node WHERE parent = 0 AND function != ''
    UNION ALL
    SELECT n.node, s.stack || ';' || n.function || ':' || n.line
    FROM node AS n JOIN stack AS s ON n.parent = s.node WHERE n.node > n.parent AND n.function != ''
)
FROM stack;

-- Readings of which threads were awake, and where; each belongs to the segment just before it.
CREATE OR REPLACE TEMP TABLE state_reading AS
WITH main AS (
    SELECT MAX(thread) FILTER (is_main) AS main FROM life
),
placed AS (
    SELECT s.*, stage, p.operation, layer, COALESCE(k.stack, '') AS stack, NOT EXISTS (
        SELECT 1 FROM thread_state AS t LEFT JOIN owner ON owner.start_ns = t.start_ns
        WHERE t.start_ns = p.start_ns AND list_contains(s.awake, t.thread)
          AND (t.thread = owner.thread
            OR (t.outer_ns IS NULL AND (owner.thread IS NULL OR NOT t.is_main)))) AS blocked
    FROM state AS s CROSS JOIN range AS r CROSS JOIN main
    JOIN process_state AS p ON s.time_ns - 1 >= p.start_ns AND s.time_ns - 1 < p.end_ns
    JOIN around AS a ON a.start_ns = p.start_ns JOIN stage ON stage.start_ns = p.start_ns
    LEFT JOIN owner ON owner.start_ns = p.start_ns
    LEFT JOIN thread_stack AS t ON t.time_ns = s.time_ns
        AND t.thread = COALESCE(owner.thread, main.main)
    LEFT JOIN known_stack AS k USING (node)
    WHERE a.win IS NOT NULL AND s.time_ns < r.end_ns
)
SELECT stage, operation, layer, stack, COUNT(*) AS readings, COUNT(*) FILTER (blocked) AS blocked
FROM placed GROUP BY ALL;

-- What a reader knows of threads some of whose chunks were lost, as plain items. Starts from
--
--   item(thread, ord, time_ns, kind, name, duration_ns, number)
--   missing(thread, first, last)                  items first .. last - 1 of the thread were lost
--
-- and leaves `known_item`, with the columns of `item`. No replay: an entry is open where its chunk
-- is lost when the depth of its name never falls below the entry's own until then.

-- No item begins before the one before it ended: as the writer wrote them, before any was lost.
CREATE OR REPLACE TEMP TABLE written_item AS
WITH ended AS (
    SELECT *, MAX(time_ns + duration_ns) OVER (PARTITION BY thread ORDER BY ord) AS end_ns
    FROM item
),
begun AS (
    SELECT *, GREATEST(time_ns, LAG(end_ns, 1, 0) OVER (PARTITION BY thread ORDER BY ord)) AS begin_ns
    FROM ended
)
SELECT thread, ord, begin_ns AS time_ns, kind, name, end_ns - begin_ns AS duration_ns, number, end_ns
FROM begun;

-- The first item behind each loss: (thread, first, last, time_ns, task), the task that runs there.
CREATE OR REPLACE TEMP TABLE resumed AS
SELECT m.thread, m.first, m.last, i.time_ns, COALESCE((
    SELECT ARG_MAX(number, ord) FROM item
    WHERE item.thread = m.thread AND kind = 'TASK' AND ord < m.last), 0) AS task
FROM missing AS m JOIN written_item AS i ON i.thread = m.thread AND i.ord = m.last;

-- Entries and exits since the last gap before that: (thread, ord, kind, name, task), step +1 or -1.
CREATE OR REPLACE TEMP TABLE before_resumed AS
WITH tasked AS (
    SELECT item.*, COALESCE(LAST_VALUE(CASE WHEN kind = 'TASK' THEN number END IGNORE NULLS)
        OVER (PARTITION BY thread ORDER BY ord), 0) AS task
    FROM item
)
SELECT thread, ord, tasked.name, tasked.task, IF(kind = 'ENTER', 1, -1) AS step
FROM tasked JOIN resumed USING (thread)
WHERE kind IN ('ENTER', 'EXIT') AND ord < last AND ord > COALESCE((
    SELECT MAX(ord) FROM item AS gap
    WHERE gap.thread = tasked.thread AND gap.kind = 'GAP' AND gap.ord < last), -1);

-- Sums of steps: an exit that takes the sum of its task and name to a new low below 0 finds nothing
-- there, and closes what was entered outside of tasks.
CREATE OR REPLACE TEMP TABLE lowest AS
SELECT *, LEAST(0, MIN(total) OVER (PARTITION BY thread, task, name ORDER BY ord)) AS low
FROM (SELECT *, SUM(step) OVER (PARTITION BY thread, task, name ORDER BY ord) AS total
      FROM before_resumed);

CREATE OR REPLACE TEMP TABLE of_stack AS
WITH placed AS (
    SELECT thread, ord, name, step,
        IF(low < LAG(low, 1, 0) OVER (PARTITION BY thread, task, name ORDER BY ord), 0, task) AS task
    FROM lowest
)
SELECT *, SUM(step) OVER (PARTITION BY thread, task, name ORDER BY ord) AS total FROM placed;

-- What is open at the first item behind the loss: (thread, ord, name, task). An exit of which
-- nothing is open lowers the floor that depths are measured from.
CREATE OR REPLACE TEMP TABLE left_open AS
WITH measured AS (
    SELECT *, total - LEAST(0, MIN(total) OVER (PARTITION BY thread, task, name ORDER BY ord)) AS depth
    FROM of_stack
)
SELECT thread, ord, name, task FROM measured
QUALIFY step = 1 AND depth <= COALESCE(MIN(depth) OVER (
    PARTITION BY thread, task, name ORDER BY ord
    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), depth);

-- The items that are left, and what stands for the lost ones: everything is closed at the end of
-- the last item before, and what was open is entered again, each in its task, before the first one
-- behind. `place` orders what has one `ord`.
CREATE OR REPLACE TEMP TABLE known_item AS
WITH pieces AS (
    SELECT thread, ord, [3, 0, 0] AS place, time_ns, kind, name, duration_ns, number
    FROM written_item LEFT JOIN missing USING (thread)
    WHERE ord < first OR ord >= last OR first IS NULL
    UNION ALL
    SELECT r.thread, r.last, [0, 0, 0], i.end_ns, 'GAP', '', 0, 0
    FROM resumed AS r JOIN written_item AS i ON i.thread = r.thread AND i.ord = r.first - 1
    UNION ALL
    SELECT thread, last, [1, o.ord, 0], time_ns, 'TASK', '', 0, o.task
    FROM resumed JOIN left_open AS o USING (thread)
    UNION ALL
    SELECT thread, last, [1, o.ord, 1], time_ns, 'ENTER', o.name, 0, 0
    FROM resumed JOIN left_open AS o USING (thread)
    UNION ALL
    SELECT thread, last, [2, 0, 0], time_ns, 'TASK', '', 0, task FROM resumed
)
SELECT thread, ROW_NUMBER() OVER (PARTITION BY thread ORDER BY ord, place)::INT - 1 AS ord,
    time_ns, kind, name, duration_ns, number
FROM pieces;

-- How often an operation ($operation) of a process ($process_id) is entered in a row. What takes less than a
-- quarter of it, such as the forward that reads a prompt, may come between.
--   entries, turns   of the operation, and how many rows of them there are
WITH _named AS (
  SELECT path, thread_id, start_ns, self_ns FROM operation_instance JOIN operation USING (operation_id)
  WHERE process_id = $process_id
), _long AS (
  SELECT * FROM _named WHERE path = $operation
    OR 4 * self_ns >= (SELECT MEDIAN(self_ns) FROM _named WHERE path = $operation)
), _entry AS (
  SELECT path, path IS DISTINCT FROM LAG(path) OVER (PARTITION BY thread_id ORDER BY start_ns) AS is_first
  FROM _long
)
SELECT COUNT(*) AS entries, COUNT_IF(is_first) AS turns FROM _entry WHERE path = $operation

-- How long a process ($process_id) imports what its loop may do without, and the library, by its first name, whose
-- own code takes most of it, with the line of the program that asks for it, if one does. Of a library whose native
-- functions the process calls, nothing counts, whoever imports it: the program needs it. One row, or none.
WITH _native AS (
  SELECT DISTINCT REGEXP_EXTRACT(function, '^[^.:]+') AS library FROM native_call
  WHERE process_id = $process_id
), _called AS (  -- the native code of JAX is a library of its own
  SELECT library FROM _native UNION SELECT 'jax' FROM _native WHERE library = 'jaxlib'
), _library AS (
  SELECT SPLIT_PART(module, '.', 1) AS library, SUM(self_ns) AS own_ns,
    ARG_MIN(asked_by, start_ns) FILTER (is_own) AS asked_by
  FROM import
  WHERE process_id = $process_id AND module IS NOT NULL
    AND SPLIT_PART(module, '.', 1) NOT IN (FROM _called)
  GROUP BY ALL
)
SELECT CAST(SUM(own_ns) OVER () AS BIGINT) AS all_ns, library, CAST(own_ns AS BIGINT) AS own_ns, asked_by
FROM _library ORDER BY own_ns DESC, library LIMIT 1

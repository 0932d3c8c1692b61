-- What the records of some processes cost, as the run itself says.
--   ns           all but those of CUDA, and without waits for room in a ring
--   unknown      kinds of which no cost is known; those of CUPTI, which iterations show, are left out
--   calls, submissions  records of CUDA
-- uses: chosen_process
SELECT CAST(SUM(overhead_ns) FILTER (kind NOT LIKE 'CUDA %') AS DOUBLE) AS ns,
  STRING_AGG(DISTINCT kind, ', ') FILTER (overhead_ns IS NULL AND (kind NOT LIKE 'CUDA %'
    OR (SELECT ANY_VALUE(json_extract_string(options, '$.cuda')) FROM run) = 'interpose')) AS unknown,
  CAST(COALESCE(SUM(count) FILTER (kind LIKE 'CUDA %'), 0) AS BIGINT) AS calls,
  CAST(COALESCE(SUM(count) FILTER (kind = 'CUDA submission'), 0) AS BIGINT) AS submissions
FROM overhead JOIN chosen_process USING (process_id)
WHERE kind NOT IN ('clamped', 'ring wait')

-- Lines of the program's own that call CUDA in an operation ($operation) of the training loop of a process
-- ($process_id), those first in whose calls it is for longest. Readings miss brief calls, and the number of
-- calls is exact.
--   calls   of CUDA; own_ns: estimate of the loop's time in them
--   text    of the line; NULL: not kept
SELECT file, line, ANY_VALUE(text) AS text, CAST(SUM(calls) AS BIGINT) AS calls,
  CAST(SUM(own_ns) FILTER (layer = 'cuda_api') AS BIGINT) AS own_ns
FROM source_line LEFT JOIN source_text USING (file, line)
WHERE process_id = $process_id AND stage = 'loop' AND operation = $operation AND is_own
  AND line IS NOT NULL AND layer IN ('cuda_api', 'gpu')
GROUP BY file, line HAVING SUM(calls) > 0 OR SUM(own_ns) FILTER (layer = 'cuda_api') > 0
ORDER BY own_ns DESC NULLS LAST, calls DESC NULLS LAST, file, line

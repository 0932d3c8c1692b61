-- Lines of the program's own that are on the stack in an operation ($operation) of the training loop of a
-- process ($process_id), those with most time first.
--   is_shared   whether the line is on the stack in other operations, too
SELECT file, line, BOOL_OR(operation NOT IN ($operation, '(none)')) AS is_shared
FROM source_line
WHERE process_id = $process_id AND stage IN ('loop', 'whole') AND is_own AND line IS NOT NULL
  AND layer <> 'gpu'
GROUP BY file, line HAVING BOOL_OR(operation = $operation)
ORDER BY SUM(total_ns) FILTER (operation = $operation) DESC, file, line

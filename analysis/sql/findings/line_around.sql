-- Lines of the program's own that are on the stack in an operation ($operation) of the training loop of a
-- process ($process_id).
SELECT DISTINCT file, line FROM source_line
WHERE process_id = $process_id AND operation = $operation AND stage IN ('loop', 'whole') AND is_own
  AND line IS NOT NULL AND layer <> 'gpu'
ORDER BY file, line

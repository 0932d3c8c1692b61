-- Lines of the program's own at which a process runs Python for at least $least_ns, outside of imports and
-- compilations: those with the most time first.
--   cpu_part   of the time in which its threads could run, the part in which they had a CPU; NULL: not known
-- uses: cpu_part
SELECT process_id, process.name AS process, file, line, CAST(SUM(own_ns) AS DOUBLE) AS own_ns,
  ANY_VALUE(cpu_part) AS cpu_part
FROM source_line JOIN process USING (process_id) LEFT JOIN cpu_part USING (process_id)
WHERE is_own AND line IS NOT NULL AND layer = 'python'
  AND NOT REGEXP_FULL_MATCH(operation, '(.*/)?(compilation|import)')
GROUP BY process_id, process.name, file, line
HAVING SUM(own_ns) >= $least_ns
ORDER BY own_ns DESC, process_id, file, line

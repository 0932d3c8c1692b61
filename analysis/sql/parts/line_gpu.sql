-- GPU time of what each line of the program's own code launched in the training loops, by operation.
-- uses: counted_process
SELECT file, line, operation, SUM(gpu_ns) AS gpu_ns
FROM source_line
WHERE layer = 'gpu' AND process_id IN (FROM counted_process) AND stage IN ('loop', 'whole')
  AND operation <> '(not recorded)' AND is_own AND line IS NOT NULL
GROUP BY ALL
HAVING SUM(gpu_ns) > 0

-- What there are readings of, the machine's first.
-- uses: reading
SELECT DISTINCT host_id, process_id, metric
FROM reading
ORDER BY host_id, process_id NULLS FIRST, metric

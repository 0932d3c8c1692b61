-- The frameworks that the processes which count in shares called outside of operations, the one in which
-- they were longest first.
--   library  the package that its functions come from
-- uses: counted_process
SELECT REGEXP_EXTRACT(function, '^[^.:]+') AS library, CAST(SUM(self_ns) AS BIGINT) AS self_ns
FROM native_call
WHERE layer = 'framework' AND operation = '(none)' AND process_id IN (FROM counted_process)
GROUP BY ALL
ORDER BY self_ns DESC, library

-- Tokens that models wrote, of the processes that count in shares and noted it at their end: a row for
-- each process. A damaged note has none.
--   duration_ns  own time of the generations that rlscope found there
-- uses: counted_process
WITH _note AS (
  SELECT process_id, TRY_CAST(value ->> '$[0]' AS BIGINT) AS tokens,
    TRY_CAST(value ->> '$[1]' AS BIGINT) AS generations
  FROM metadata WHERE key = 'rlscope.tokens' AND json_valid(value)
)
SELECT process.name AS process, tokens, generations, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns
FROM _note JOIN process USING (process_id) JOIN breakdown USING (process_id)
WHERE process_id IN (FROM counted_process) AND tokens > 0 AND generations > 0
  AND operation = 'generation' AND breakdown.source = 'automatic'
GROUP BY process_id, process.name, tokens, generations
HAVING SUM(duration_ns) > 0
ORDER BY tokens DESC, process_id
LIMIT $rows

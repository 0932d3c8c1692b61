-- Processes that wait for environment workers: process_id.
-- uses: serving_worker
SELECT DISTINCT process_id FROM serving_worker ORDER BY process_id

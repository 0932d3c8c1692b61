-- CUDA calls whose GPU work is in the timeline, too: an arrow joins them.
-- uses: shown_interval
SELECT row_number() OVER (ORDER BY process_id, linked_id) AS flow, process_id, linked_id
FROM shown_interval
WHERE linked_id IS NOT NULL
GROUP BY process_id, linked_id
HAVING bool_or(kind = 'cuda_call') AND bool_or(kind <> 'cuda_call')

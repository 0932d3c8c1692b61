-- From when on single records are there, of the processes whose records before were rolled up
-- (rls-prof --rollup).
SELECT process_id, start_ns + MAX(duration_ns) AS from_ns
FROM loss JOIN process USING (process_id) WHERE kind = 'rolled_up' GROUP BY process_id, start_ns

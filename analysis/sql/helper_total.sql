-- Helpers without a training loop, by family, the largest family first.
-- uses: folded_process, process_family
SELECT family, COUNT(*) AS processes, CAST(SUM(COALESCE(cpu_ns, 0)) AS BIGINT) AS cpu_ns
FROM folded_process JOIN process_family USING (process_id) JOIN process USING (process_id)
GROUP BY family ORDER BY processes DESC, family

-- Calls of a process ($process_id) that turn Python's numbers into tensors, or back ($functions), by
-- operation.
--   self_ns  without CUDA calls inside: waits for a GPU are none of it
--   steps    how often environments step in the process (operations $simulation)
SELECT operation, "function", CAST(SUM(calls) AS BIGINT) AS calls,
  CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  (SELECT COUNT(*) FROM operation_instance JOIN operation USING (operation_id)
   WHERE process_id = $process_id AND path IN (SELECT UNNEST($simulation))) AS steps
FROM native_call
WHERE process_id = $process_id AND "function" IN (SELECT UNNEST($functions))
GROUP BY operation, "function" HAVING SUM(calls) > 0
ORDER BY SUM(SUM(self_ns)) OVER (PARTITION BY operation) DESC, operation, self_ns DESC, "function"

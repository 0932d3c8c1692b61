-- longest_ns: the longest training loop that counts in shares, of processes other than $process_id; 0: none.
SELECT CAST(COALESCE(MAX(loop_ns), 0) AS BIGINT) AS longest_ns FROM (
  SELECT SUM(duration_ns) AS loop_ns FROM training_loop
  WHERE stage = 'loop' AND process_id <> $process_id GROUP BY process_id)

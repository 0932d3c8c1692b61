-- Helpers without a training loop: together one line of the tables of processes.
SELECT process_id FROM process
WHERE role = 'helper' AND process_id NOT IN (
  SELECT process_id FROM breakdown WHERE stage = 'loop'
)

-- process_id of the processes that have a training loop and count in shares: a worker that steps
-- environments or loads batches for a process, and waits for it, counts where no other one has a loop.
SELECT process_id FROM process WHERE process_id IN (SELECT process_id FROM breakdown WHERE stage = 'loop')
QUALIFY COALESCE(role IN ('environment worker', 'data loader worker', 'helper'), FALSE)
  = BOOL_AND(COALESCE(role IN ('environment worker', 'data loader worker', 'helper'), FALSE)) OVER ()

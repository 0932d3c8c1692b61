-- process_id of the processes that have a training loop and count in shares.
SELECT DISTINCT process_id FROM training_loop WHERE stage = 'loop'

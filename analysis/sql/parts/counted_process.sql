-- process_id of "all processes": those that shares are of.
SELECT DISTINCT process_id FROM training_loop

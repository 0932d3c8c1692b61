-- The rows of wait_target in what shares are of: the training loops, or all time if there is none.
-- uses: wait_target
SELECT * FROM wait_target WHERE stage IN ('loop', 'whole')

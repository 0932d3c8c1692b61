-- Why no row of a relation can be in the trace; no row when one could, or the relation has some.
--   reason
SELECT reason FROM absent WHERE relation = $relation AND column_name = '*'

-- What one record costs, by kind, without those of CUDA: nanoseconds, and the part inside.
SELECT kind, mean_ns, inside FROM calibration
WHERE kind <> 'ring wait' AND kind NOT LIKE 'CUDA %'

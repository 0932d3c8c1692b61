-- Time of the training loop of a process ($process_id) that a rule may mend, by stack: stack_id, operation,
-- self_ns, self_low_ns, self_high_ns, readings.
--   $waits       whether waits count
--   $operations  paths; none: of all operations, but compilations and imports, which have prices of their own
SELECT stack_id, operation, self_ns, self_low_ns, self_high_ns, readings FROM stack_time
WHERE process_id = $process_id AND stage IN ('loop', 'whole')
  AND layer <> 'gpu' AND (layer <> 'wait' OR $waits)
  AND (operation IN (SELECT UNNEST($operations))
    OR (LEN($operations) = 0 AND NOT REGEXP_FULL_MATCH(operation, '(.*/)?(compilation|import)')))

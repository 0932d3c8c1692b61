-- The part of its time in which a process ($process_id) had a CPU when it could run (own), and the median of
-- that over the other processes of its family ($family): typical. NULL: not known.
-- uses: cpu_part, process_family
SELECT ANY_VALUE(cpu_part) FILTER (process_id = $process_id) AS own,
  MEDIAN(cpu_part) FILTER (process_id <> $process_id) AS typical
FROM cpu_part JOIN process_family USING (process_id) WHERE family = $family

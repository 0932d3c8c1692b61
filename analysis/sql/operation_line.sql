-- The lines of the program's own code in which a process ($process_id) spends time of a stage ($stage).
--   $operation  in this operation; NULL: in all
--   $layers     in these layers; none: in all
--   own_ns      as in source_line, with the ends of the interval of a sum of independent estimates
--   text        of the line; NULL: not kept
WITH _line AS (
  SELECT file, line, SUM(own_ns) AS own_ns, SQRT(SUM(POW(own_ns - own_low_ns, 2))) AS below_ns,
    SQRT(SUM(POW(own_high_ns - own_ns, 2))) AS above_ns
  FROM source_line
  WHERE process_id = $process_id AND stage = $stage AND is_own AND line IS NOT NULL
    AND layer <> 'gpu' AND (layer IN (SELECT UNNEST($layers)) OR LEN($layers) = 0)
    AND (operation = $operation OR $operation IS NULL)
  GROUP BY file, line
)
SELECT file, line, text, CAST(own_ns AS BIGINT) AS own_ns,
  CAST(own_ns - below_ns AS BIGINT) AS own_low_ns, CAST(own_ns + above_ns AS BIGINT) AS own_high_ns
FROM _line LEFT JOIN source_text USING (file, line)
WHERE own_ns > 0 ORDER BY own_ns DESC, file, line

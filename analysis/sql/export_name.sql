-- The texts that a timeline shows.
-- uses: named_interval
SELECT row_number() OVER (ORDER BY text) - 1 AS name, text
FROM (SELECT DISTINCT text FROM named_interval)

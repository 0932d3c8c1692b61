-- Files of the program whose text the run kept.
SELECT DISTINCT file FROM source_text ORDER BY file

-- Files of the program whose text the run kept, if a line of theirs is like $pattern. To read all of them takes
-- seconds where a program has megabytes.
SELECT DISTINCT file FROM source_text WHERE regexp_matches(text, $pattern) ORDER BY file

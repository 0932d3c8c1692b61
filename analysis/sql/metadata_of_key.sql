-- What each process noted under a key; value is JSON.
SELECT value FROM metadata WHERE key = $key ORDER BY process_id

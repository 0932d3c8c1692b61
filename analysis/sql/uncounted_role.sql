-- Processes that are in no share, by role; NULL: the role is not known.
-- uses: counted_process
SELECT role, COUNT(*) AS processes FROM process WHERE process_id NOT IN (FROM counted_process)
GROUP BY role ORDER BY processes DESC, role

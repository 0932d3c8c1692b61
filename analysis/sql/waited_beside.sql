-- For which processes a thread without operations waits longest beside the one that the time between
-- operations is of, by stage, over the processes that count in shares.
--   role, family, name, last_name, peers  as in waited_for
--   self_ns  of that thread, a sum over the processes
-- uses: counted_process, described_thread, paired_wait, process_family
WITH _beside AS (
  SELECT waiting.process_id, stage, waiting.thread_id, peers, SUM(self_ns) AS self_ns
  FROM paired_wait AS waiting JOIN described_thread AS described USING (process_id)
  WHERE process_id IN (FROM counted_process) AND operation = '(none)'
    AND waiting.thread_id <> described.thread_id
    AND peers IS NOT NULL AND NOT LIST_CONTAINS(peers, process_id)
  GROUP BY ALL
), _longest AS (
  SELECT * FROM _beside
  QUALIFY ROW_NUMBER() OVER (PARTITION BY process_id, stage ORDER BY self_ns DESC, thread_id) = 1
), _peer AS (
  SELECT DISTINCT stage, UNNEST(peers) AS process_id FROM _longest
), _named AS (
  SELECT stage, IF(MIN(role) = MAX(role), MIN(role), NULL) AS role,
    IF(MIN(family) = MAX(family), MIN(family), NULL) AS family,
    MIN(place) AS first, MAX(place) AS last, COUNT(*) AS peers
  FROM _peer JOIN process USING (process_id) JOIN process_family USING (process_id)
  GROUP BY stage
), _sum AS (
  SELECT stage, SUM(self_ns) AS self_ns FROM _longest GROUP BY stage
)
SELECT stage, role, family, first.name AS name, last.name AS last_name, peers,
  CAST(self_ns AS BIGINT) AS self_ns
FROM _named JOIN _sum USING (stage) ORDER BY stage

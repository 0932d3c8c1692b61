-- From the first start of the iterations $first to $last in any process up to their last end; which of
-- them there are, and which iterations the run has.
SELECT
  MIN(start_ns) FILTER (iteration BETWEEN $first AND $last) AS from_ns,
  MAX(start_ns + duration_ns) FILTER (iteration BETWEEN $first AND $last) AS until_ns,
  MIN(iteration) FILTER (iteration BETWEEN $first AND $last) AS first,
  MAX(iteration) FILTER (iteration BETWEEN $first AND $last) AS last,
  MIN(iteration) AS runs_from,
  MAX(iteration) AS runs_to
FROM iteration

-- The complete iterations that lengths and costs are of: the program's own, where it has any, else
-- those that rlscope found.
FROM iteration QUALIFY complete AND source IS NOT DISTINCT FROM
  MAX(source) OVER (PARTITION BY process_id)

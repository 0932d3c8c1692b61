SELECT operation_id, parent_operation_id, name, path, depth, source FROM operation ORDER BY 1

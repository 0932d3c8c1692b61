SELECT operation, from_layer, to_layer, "count", per_iteration FROM transition

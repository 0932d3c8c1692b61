"""The rows of each relation, made from the sweep of the trace files."""

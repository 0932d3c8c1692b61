"""The Python side of capture: what prepares, watches and samples the traced processes."""

"""The formats of `rlscope export`: one file and one row of the registry each."""

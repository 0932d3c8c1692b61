"""What rlscope advises: one rule, one file, one row of rlscope/registry.py."""

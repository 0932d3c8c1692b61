"""What a program calls to describe its algorithm."""

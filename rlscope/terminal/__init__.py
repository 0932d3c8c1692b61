"""What commands show on a terminal while they work."""

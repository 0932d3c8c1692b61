"""What programs ask for where inheritance from their process is not enough: one file a library."""

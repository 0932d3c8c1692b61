"""What one record costs the program, and where that was measured."""

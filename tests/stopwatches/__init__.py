"""Training programs with a stopwatch inside, and the table that compares the page with it."""

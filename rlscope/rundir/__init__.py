"""The directory of a run: its files, who records into it, how it is made, found and removed."""

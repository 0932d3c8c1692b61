"""Makes trace directories of the files of other tools."""

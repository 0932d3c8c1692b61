"""One importer is one file here, with an IMPORTER (rlscope/trace/imported.py) and one row in the
registry."""

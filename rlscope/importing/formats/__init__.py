"""One format is one file with an IMPORTER (rlscope/importing/importer.py), and one registry row."""

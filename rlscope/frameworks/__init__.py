"""Machine learning frameworks: one file each, for the shared objects that are layer framework.

A row of rlscope/registry.py is named after the package whose import makes the file be read. Other
packages add rows with entry points of the group `rlscope.frameworks`.
"""

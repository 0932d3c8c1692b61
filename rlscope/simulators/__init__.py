"""Simulators: one file each, for the shared objects that are layer simulator.

Only native code is: the Python code of an environment is layer python, inside the operation
that steps it. A row of rlscope/registry.py is named after the package whose import makes the file
be read. Other packages add rows with entry points of the group `rlscope.simulators`; a program
names its own library by `rls.layer("simulator", module="mysim")` or `rls-prof --simulator mysim`.
"""

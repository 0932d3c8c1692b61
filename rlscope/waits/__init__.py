"""Waits: one file for each module of the interpreter that has functions in which a thread waits.

A row of rlscope/registry.py is named after the module; the file is read when the module has been
imported. Calls shorter than 5 us leave no record (csrc/native_calls/waits.h). Waiting for the GIL
needs no file: it is seen where the interpreter waits. Other packages add rows with entry points of
the group `rlscope.waits`.
"""

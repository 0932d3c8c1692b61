"""Serialization: one file for each module whose functions make bytes of objects, or objects of
bytes.

A row of rlscope/registry.py is named after the module; the file is read when the module has been
imported. Their calls are native calls of layer python, from a process's first operation on. Native
calls and waits inside keep their own layers. Other packages add rows with entry points of the group
`rlscope.serializers`.
"""

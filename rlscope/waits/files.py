"""_io: files, and pipes that were opened as files (the standard streams of a subprocess)."""

from rlscope.capture.wait import SELF, Wait

_METHODS = ("read", "readall", "readinto", "write")

WAITS = (Wait("descriptor", [f"FileIO.{method}" for method in _METHODS], SELF),)

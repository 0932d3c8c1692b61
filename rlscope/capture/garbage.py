"""Garbage collections of this interpreter: one entry of gc.callbacks, from begin() to end()."""

import gc
import os

from rlscope.recorder import runtime


def begin() -> None:
    """From now on collections are recorded, unless RLSCOPE_GC says 0."""
    if os.environ.get("RLSCOPE_GC") != "0":
        gc.callbacks.insert(0, runtime.note_collection)


def end() -> None:
    """The entry is gone. The program may have removed it before."""
    if runtime.note_collection in gc.callbacks:
        gc.callbacks.remove(runtime.note_collection)

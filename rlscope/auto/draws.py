"""Draws of some items out of many: how a program takes a batch out of a list, a deque or an array
with its experience.

What follows a draw decides what it was (csrc/python/runtime_module/automatic_track.h). For batches
that a buffer's class takes see replay.py.
"""

import sys
from types import MethodType
from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_method, watched

_PYTHON = ("sample", "choices")
_NUMPY = ("choice", "randint")


def watch() -> None:
    """The functions of Python and NumPy, once a library has modules that learn from a batch. Such
    libraries have imported both."""
    random: Any = sys.modules.get("random")
    numpy: Any = sys.modules.get("numpy.random")
    if random is not None:
        for name in _PYTHON:
            watch_method("draw", random.Random, name)
            _watch_bound(random, name)
    if numpy is not None:
        for name in _NUMPY:
            _watch_bound(numpy, name)


def _watch_bound(module: Any, name: str) -> None:
    """A function of a module that is the method of an object."""
    method = getattr(module, name, None)
    if isinstance(method, MethodType):
        setattr(module, name, MethodType(watched("draw", method.__func__), method.__self__))
        rules.watches("replay", f"{module.__name__}.{name}")

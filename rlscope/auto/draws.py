"""Draws of some items out of many: how a program takes a batch out of a list, a deque or an array
with its experience, or an action out of all. Bringing all into a random order is such a draw, too:
batches of a rollout are made so.

What follows a draw decides what it was (csrc/python/runtime_module/automatic_track.h). For batches
that a buffer's class takes see replay.py, for actions of a space gymnasium.py.
"""

import sys
from types import BuiltinMethodType, MethodType
from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_method, watched
from rlscope.recorder import runtime

_PYTHON = ("sample", "choices", "choice", "randrange", "shuffle")  # randint calls randrange
_NUMPY = ("choice", "randint", "permutation", "shuffle")
_GENERATOR = ("choice", "integers", "permutation", "permuted", "shuffle")
_TORCH = ("randint", "randperm")


def watch() -> None:
    """The functions of Python, once a library has modules that learn from a batch. Such libraries
    have imported it."""
    random: Any = sys.modules.get("random")
    if random is not None:
        for name in _PYTHON:
            watch_method("draw", random.Random, name)
            _watch_bound(random, name)


def watch_numpy(module: Any) -> None:
    """numpy.random, which NumPy imports where a program first names it. Its functions are those of
    a RandomState of its own, with which programs make others."""
    for name in _NUMPY:
        is_watched = runtime.watch_in_place("draw", getattr(module.RandomState, name))
        if is_watched and isinstance(getattr(module, name), MethodType):
            _says(f"numpy.random.{name}")
        else:  # before NumPy 2
            _watch_bound(module, name)
    for name in _GENERATOR:
        if runtime.watch_in_place("draw", getattr(module.Generator, name)):
            _says(f"numpy.random.Generator.{name}")


def watch_torch(module: Any) -> None:
    """torch."""
    for name in _TORCH:
        if runtime.watch_in_place("draw", getattr(module, name)):
            _says(f"torch.{name}")


def _watch_bound(module: Any, name: str) -> None:
    """A function of a module that is the method of an object."""
    method = getattr(module, name, None)
    if isinstance(method, MethodType):
        setattr(module, name, MethodType(watched("draw", method.__func__), method.__self__))
    elif isinstance(method, BuiltinMethodType):  # before NumPy 2
        setattr(module, name, runtime.watch("draw", method))
    else:
        return
    _says(f"{module.__name__}.{name}")


def _says(function: str) -> None:
    rules.watches("replay", function)

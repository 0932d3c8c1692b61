"""Interception as RL-Scope did it (Gleeson et al. 2021): a Python function in place of each native
function of PyTorch that a module or the tensor class holds, which reads the clock before and after.
"""

import time
import types
from collections.abc import Callable
from typing import Any

_BUILTIN = (types.BuiltinFunctionType, types.MethodDescriptorType)


class WrappedFunctions:
    """The wrappers, made once; put() puts them in place or takes them out."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, float, float]] = []
        self._places = list(self._find())
        self._in_place = False

    def put(self, wrappers: bool) -> None:
        self.recorded.clear()
        if wrappers == self._in_place:
            return
        self._in_place = wrappers
        for owner, name, wrapper, own in self._places:
            if wrappers:
                setattr(owner, name, wrapper)
            elif own is None:
                delattr(owner, name)  # inherited
            else:
                setattr(owner, name, own)

    def _find(self) -> Any:
        import torch
        from torch.nn import functional

        for owner in (torch, functional, torch._C, torch._C._nn, torch.Tensor):
            for name in dir(owner):
                function = getattr(owner, name, None)
                if isinstance(function, _BUILTIN) and not name.startswith("__"):
                    yield owner, name, self._wrap(name, function), vars(owner).get(name)

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        record, clock = self.recorded.append, time.time

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = clock()
            try:
                return function(*args, **kwargs)
            finally:
                record((name, start, clock()))

        return wrapper

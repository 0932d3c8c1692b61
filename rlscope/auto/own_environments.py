"""Environments of no known library: a class with a `step` and a `reset` may be one.

Before the first forward, and while the process has no environment, all classes are looked through.
What their steps do decides (csrc/python/runtime_module/own_environments.h). A program can also name
its class, by rls.environment() or `rls-prof --environment`.
"""

import os
import sys
from types import FunctionType
from typing import Any

from rlscope.auto import ROWS, is_automatic, rules
from rlscope.auto.calls import subclasses, watch_method
from rlscope.auto.environments import is_environment, watch_environments

VARIABLE = "RLSCOPE_ENVIRONMENTS"

_EVENTS = {"step": "own step", "reset": "own reset"}
# Libraries whose classes with these methods are known not to be environments, or are watched.
_LIBRARIES = {name.partition(".")[0] for name in ROWS} | {"numpy", "rlscope"}
_seen: set[type] = set()


def named_modules() -> "dict[str, set[str]]":
    """Module -> classes of it that the user named; of "__main__" those without a module."""
    found: dict[str, set[str]] = {}
    for text in filter(None, os.environ.get(VARIABLE, "").split(",")):
        module, _, name = text.rpartition(":")
        found.setdefault(module or "__main__", set()).add(name)
    return found


def watch_named(module: Any) -> None:
    """A module with classes that the user named, once it is imported."""
    for name in named_modules()[module.__name__]:
        owner: Any = module
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if isinstance(owner, type):
            watch_class(owner)


def watch_class(owner: type) -> None:
    """A class of environments, by word of the user; nothing where no operations are found."""
    if is_automatic() and not is_environment(owner):
        watch_environments(owner)


def find() -> None:
    """Watches the classes that may be environments, each once."""
    names = named_modules().get("__main__", set())
    for owner in subclasses(object) - _seen:
        _seen.add(owner)
        try:
            if owner.__module__ == "__main__" and owner.__qualname__ in names:
                watch_class(owner)
            elif _may_simulate(owner):
                _watch(owner)
        except Exception:  # a class that is not like others stays as it is
            continue


def found(owner: type) -> None:
    """The steps of a class are an environment's."""
    rules.watches("simulation", f"{owner.__module__}.{owner.__qualname__}")


def _may_simulate(owner: type) -> bool:
    module: object = owner.__module__  # a class can put anything there
    library = module.partition(".")[0] if isinstance(module, str) else ""
    if (
        not library
        or library in _LIBRARIES
        or library in sys.stdlib_module_names
        or is_environment(owner)
    ):
        return False
    if _is_module_or_optimizer(owner):
        return False
    return all(isinstance(getattr(owner, name, None), FunctionType) for name in _EVENTS)


def _is_module_or_optimizer(owner: type) -> bool:
    """Of PyTorch, which knows the functions of its classes by identity."""
    return any(str(base.__module__).partition(".")[0] == "torch" for base in owner.__mro__)


def _watch(owner: type) -> None:
    for name, event in _EVENTS.items():
        defines = next(base for base in owner.__mro__ if name in vars(base))
        watch_method(event, defines, name)

"""Waits of this interpreter: the functions that rlscope/waits names are patched as soon as their
modules are there."""

import sys

from rlscope import registry
from rlscope.native import runtime

TYPE_CHECKING = False  # typing costs 5 ms to import, and every traced process comes here
if TYPE_CHECKING:
    from types import ModuleType

    from rlscope.capture.wait import Wait


def begin() -> None:
    """Patches the functions of modules that are imported, and of the others when they will be."""
    names = frozenset(registry.names(registry.WAITS))
    runtime.intercept_executed(names, lambda module: _patch_module(module.__name__, module))
    for name in names:
        module = sys.modules.get(name)
        if module is not None:
            _patch_module(name, module)
    runtime.intercept_gil()


def _patch_module(name: str, module: "ModuleType") -> None:
    """Patches what the file of its row names. A module may call itself otherwise: _io is "io"."""
    for wait in registry.load(registry.WAITS, name):
        for function in wait.functions:
            _patch(name, module, wait, function)


def _patch(name: str, module: "ModuleType", wait: "Wait", function: str) -> None:
    owner, _, method = function.rpartition(".")
    # Methods as their types hold them: a bound one is another object.
    holder = vars(_type_of(name, module, owner)) if owner else vars(module)
    found = holder.get(method)
    if found is not None:
        runtime.intercept_wait(found, f"{name}.{function}", wait.kind, wait.object, wait.opens)


def _type_of(module_name: str, module: "ModuleType", name: str) -> type:
    """A type of the module, also one that it makes and does not name; `object` without it."""
    named = getattr(module, name, None)
    if isinstance(named, type):
        return named
    make = _MAKERS.get((module_name, name))
    if make is None or not hasattr(module, make):
        return object
    return type(getattr(module, make)())


# Types that have no name in their module, and the function that makes one of their objects.
_MAKERS = {
    ("_thread", "lock"): "allocate_lock",
    ("select", "poll"): "poll",
    ("select", "epoll"): "epoll",
}

"""The functions of this interpreter that rlscope/waits and rlscope/serializers name: they are
patched as soon as their modules are there."""

import sys

from rlscope import registry
from rlscope.recorder import runtime

TYPE_CHECKING = False  # typing costs 5 ms to import, and every traced process comes here
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from rlscope.capture.wait import Wait


def begin() -> None:
    """Patches the functions of modules that are imported, and of the others when they will be."""
    waits = frozenset(registry.names(registry.WAITS))
    serializers = frozenset(registry.names(registry.SERIALIZERS))

    def patch(name: str, module: "ModuleType") -> None:
        if name in waits:
            _patch_waits(name, module)
        if name in serializers:
            _patch_serializers(name, module)

    # A module may call itself otherwise: _io is "io".
    runtime.intercept_executed(waits | serializers, lambda module: patch(module.__name__, module))
    for name in waits | serializers:
        module = sys.modules.get(name)
        if module is not None:
            patch(name, module)
    runtime.intercept_gil()


def _patch_waits(name: str, module: "ModuleType") -> None:
    rows: Iterable[Wait] = registry.load(registry.WAITS, name)
    for wait in rows:
        for function in wait.functions:
            found = _find(name, module, function)
            if found is not None:
                label = f"{name}.{function}"
                runtime.intercept_wait(found, label, wait.kind, wait.object, wait.opens)


def _patch_serializers(name: str, module: "ModuleType") -> None:
    functions: Iterable[str] = registry.load(registry.SERIALIZERS, name)
    for function in functions:
        found = _find(name, module, function)
        if found is not None:
            runtime.intercept_serializer(found, f"{name.lstrip('_')}:{function}")


def _find(name: str, module: "ModuleType", function: str) -> object:
    """None: this Python does not have it."""
    owner, _, method = function.rpartition(".")
    # Methods as their types hold them: a bound one is another object.
    holder = vars(_type_of(name, module, owner)) if owner else vars(module)
    return holder.get(method)


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

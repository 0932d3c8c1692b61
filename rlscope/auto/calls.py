"""How a call of a library becomes an event: its function is changed in place where the interpreter
allows that, else an object that looks like it takes its place.

When Python code calls a Python function, CPython 3.11 does not read the function's vectorcall
pointer. There only calls that come from C (a type's slot, a `with` statement) or that unpack their
arguments can be seen in place.
"""

import sys

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR of inspect, which takes as long to import.
_SUSPENDS = 0x20 | 0x80 | 0x200
# Py_TPFLAGS_METHOD_DESCRIPTOR: bound to an object, it is called with that as its first argument.
# Functions of Python and of Cython, functools.lru_cache, methods of classes written in C.
_IS_METHOD = 1 << 17
_SEES_EVERY_CALL = sys.version_info[:2] != (3, 11)


def watched(event: str, function: "Callable[..., Any]") -> "Callable[..., Any]":
    """The function, or what takes its place: each call of it is an event."""
    if _SEES_EVERY_CALL and runtime.watch_in_place(event, function):
        return function
    return runtime.watch(event, function)


def watch_method(event: str, owner: type, name: str) -> None:
    """Makes calls of the method that a class itself defines events; does nothing if it has none.

    Left alone are abstract methods, those that suspend, as their calls mean nothing, and methods of
    classes that cannot be changed.
    """
    function: Any = vars(owner).get(name)
    if type(function) is getattr(sys.modules.get("functools"), "partialmethod", None):
        if _is_watchable(function.func):
            function.func = runtime.watch(event, function.func)  # called otherwise it is no event
        return
    if not _is_watchable(function):
        return
    replacement = watched(event, function)
    if replacement is not function:
        try:
            setattr(owner, name, replacement)
        except TypeError:  # a class of C code
            return


def _is_watchable(function: "Any") -> bool:
    if not type(function).__flags__ & _IS_METHOD:
        return False
    if getattr(function, "__isabstractmethod__", False):
        return False
    code = getattr(function, "__code__", None)
    return not getattr(code, "co_flags", 0) & _SUSPENDS


def watch_from_c(event: str, owner: type, name: str) -> None:
    """The same for a method that C code calls: the function stays what it is in every release.

    Compilers of Python code, such as TorchDynamo and TorchScript, know some functions by identity.
    """
    function = vars(owner).get(name)
    if function is not None and not runtime.watch_in_place(event, function):
        setattr(owner, name, runtime.watch(event, function))


def watch_global(event: str, function: "Callable[..., Any]", *modules: "Any") -> None:
    """Makes calls of a function events, wherever these modules hold it."""
    replacement = watched(event, function)
    for module in modules:
        for name, value in list(vars(module).items()):
            if value is function and replacement is not function:
                setattr(module, name, replacement)

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
    """Makes calls of the method that a class itself defines events; does nothing if it has none. A
    class method and a static method stay what they are.

    Left alone are abstract methods, those that suspend, as their calls mean nothing, and methods of
    classes that cannot be changed.
    """
    held: Any = vars(owner).get(name)
    if type(held) is getattr(sys.modules.get("functools"), "partialmethod", None):
        if _is_watchable(held.func):
            held.func = runtime.watch(event, held.func)  # called otherwise it is no event
        return
    kind = type(held)
    function = held.__func__ if kind in (classmethod, staticmethod) else held
    if not _is_watchable(function):
        return
    replacement = watched(event, function)
    if replacement is function:
        return
    try:
        setattr(owner, name, replacement if function is held else kind(replacement))
    except TypeError:  # a class of C code
        return


def _is_watchable(function: "Any") -> bool:
    if not type(function).__flags__ & _IS_METHOD:
        return False
    if getattr(function, "__isabstractmethod__", False):
        return False
    code = getattr(function, "__code__", None)
    return not getattr(code, "co_flags", 0) & _SUSPENDS


def watch_below(event: str, root: type, *names: str) -> None:
    """Makes calls of the methods events for every class below `root`, now and later."""

    def watch(owner: type) -> None:
        for name in names:
            watch_method(event, owner, name)

    for owner in subclasses(root):
        watch(owner)
    follow_subclasses(root, watch)


def subclasses(root: type) -> set[type]:
    """The class itself and all classes below it."""
    found, waiting = {root}, [root]
    while waiting:
        new: set[type] = set(type.__subclasses__(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def follow_subclasses(root: type, watch: "Callable[[type], None]") -> None:
    """Classes that are defined later report themselves, as soon as they exist."""
    own = vars(root).get("__init_subclass__")

    def __init_subclass__(cls: type, /, **options: "Any") -> None:
        if own is None:
            super(root, cls).__init_subclass__(**options)  # type: ignore[arg-type]
        else:
            own.__get__(None, cls)(**options)
        try:
            watch(cls)
        except Exception:  # a class that cannot be changed stays as it is
            return

    __init_subclass__.__qualname__ = f"{root.__qualname__}.__init_subclass__"
    __init_subclass__.__module__ = root.__module__
    setattr(root, "__init_subclass__", classmethod(__init_subclass__))  # noqa: B010


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

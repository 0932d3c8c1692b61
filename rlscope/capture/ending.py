"""What the interpreter runs as it ends: its threads are joined, then its exit functions run. Noted
in the metadata of the process after the last of them."""

import atexit
import sys
import time

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

METADATA = "rlscope.ending"
"""Key of the note, JSON: a list of [what, function, begin_ns, duration_ns], CLOCK_MONOTONIC. `what`
is "threads" or "exit function"."""

_SHORTEST_NS = 1_000_000
_MOST = 32
_LONGEST = 200

_parts: "list[tuple[str, str, int, int]]" = []
_functions: "list[_ExitFunction]" = []


class _ExitFunction:
    """A function that the program registered, and looks like it where the interpreter shows it."""

    __slots__ = ("_function",)

    def __init__(self, function: "Callable[..., Any]") -> None:
        self._function = function

    def __call__(self, *args: "Any", **kwargs: "Any") -> "Any":
        begin_ns = time.monotonic_ns()
        try:
            return self._function(*args, **kwargs)
        finally:
            _add("exit function", _name_of(self._function), begin_ns)

    def __repr__(self) -> str:
        return repr(self._function)

    def runs(self, function: "Any") -> bool:
        return bool(self._function == function)


def watch_exit_functions() -> None:
    """From now on functions that the program registers with atexit are timed."""
    register, unregister = atexit.register, atexit.unregister

    def timed(func: "Any", /, *args: "Any", **kwargs: "Any") -> "Any":
        if not callable(func):
            return register(func, *args, **kwargs)  # which says so
        _functions.append(_ExitFunction(func))
        register(_functions[-1], *args, **kwargs)
        return func

    def forget(func: "Any", /) -> None:
        for each in [each for each in _functions if each.runs(func)]:
            unregister(each)
            _functions.remove(each)
        unregister(func)

    for replacement, function in ((timed, register), (forget, unregister)):
        replacement.__name__ = replacement.__qualname__ = function.__name__
        replacement.__doc__ = function.__doc__
    atexit.register, atexit.unregister = timed, forget


def watch_threads(module: "Any") -> None:
    """threading: the interpreter joins its threads in this function, before exit functions run."""
    shutdown = module._shutdown

    def _shutdown() -> None:
        begin_ns = time.monotonic_ns()
        try:
            shutdown()
        finally:
            _add("threads", "", begin_ns)

    module._shutdown = _shutdown


def note() -> None:
    """Called as the last exit function."""
    if _parts:
        import json

        longest = sorted(_parts, key=lambda part: -part[3])[:_MOST]
        runtime.metadata(METADATA, json.dumps(longest))


def _add(what: str, function: str, begin_ns: int) -> None:
    duration_ns = time.monotonic_ns() - begin_ns
    if duration_ns >= _SHORTEST_NS:
        _parts.append((what, function[:_LONGEST], begin_ns, duration_ns))


def _name_of(function: "Any") -> str:
    """Module and name; of what functools.partial made, of its function."""
    partial = getattr(sys.modules.get("functools"), "partial", ())
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{module}.{name}"

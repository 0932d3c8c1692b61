"""What compilers of libraries compiled: which function, how often, for how long, and which line of
the program asked for it. Kept in the process, noted in its metadata now and then and at its end."""

import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from rlscope.auto.spaced_notes import SpacedNotes
from rlscope.recorder import runtime
from rlscope.rundir.own_code import is_own_frame

METADATA = "rlscope.compilations"
"""Key of the note, JSON: a list of [compiler, function, file, line, count, total_ns, early_count,
early_ns]. Early is what came before the first update of the process."""

_MOST = 200  # rows of a note: those that took longest
_LONGEST = 200

_found: dict[tuple[str, str, str, int], list[int]] = {}
_open = threading.local()


def begin() -> None:
    """The calling thread compiles something, maybe for something else that it compiles."""
    _stack().append([time.perf_counter_ns(), 0])


def end(compiler: str, function: str, *, count: int = 1, code: CodeType | None = None) -> None:
    """It has compiled the function. What it compiled for this meanwhile is not counted twice.

    Args:
        count: 0: a part of a compilation whose last part is still to come.
        code: of the function, which names a place where no line of the program asked.
    """
    stack = _stack()
    if not stack:
        return
    began_ns, inside_ns = stack.pop()
    took_ns = time.perf_counter_ns() - began_ns
    if stack:
        stack[-1][1] += took_ns
    file, line = _asked() or ((code.co_filename, code.co_firstlineno) if code else ("", 0))
    row = _found.setdefault((compiler, function[:_LONGEST], file[:_LONGEST], line), [0, 0, 0, 0])
    for place in (0,) if runtime.has_learned() else (0, 2):
        row[place] += count
        row[place + 1] += took_ns - inside_ns
    _notes.soon()


def timed(
    compiler: str, function: Callable[..., Any], name_of: Callable[..., tuple[str, CodeType | None]]
) -> Callable[..., Any]:
    """The function, which compiles another one. `name_of`: name and code of that, from the
    arguments."""

    @functools.wraps(function)
    def compiles(*args: Any, **kwargs: Any) -> Any:
        begin()
        try:
            return function(*args, **kwargs)
        finally:
            name, code = name_of(*args, **kwargs)
            end(compiler, name, code=code)

    return compiles


def note() -> None:
    """Puts what is known into the metadata."""
    longest = sorted(_found.items(), key=lambda item: -item[1][1])[:_MOST]
    if longest:
        runtime.metadata(METADATA, json.dumps([[*place, *numbers] for place, numbers in longest]))


def _stack() -> list[list[int]]:
    if not hasattr(_open, "stack"):
        _open.stack = []
    return _open.stack  # type: ignore[no-any-return]


def _asked() -> tuple[str, int] | None:
    """The innermost line of the program itself on the stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_own_frame(frame):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _forget() -> None:
    """In a fork child: its parent notes what it compiled itself."""
    _found.clear()


_notes = SpacedNotes(note)
os.register_at_fork(after_in_child=_forget)

"""The native calls that a recorded child made: caller, callee, the operation around them, and when
native code was back in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from support.process.recorded_child import ENTER, EXIT, Recorded, record

# Kinds of csrc/trace/layout/record.h.
CALL, CALL_BEGIN, CALL_END, CALLBACK_BEGIN, CALLBACK_END = range(15, 20)

PRELUDE = """\
import os
os.environ["RLSCOPE_INTERCEPT"] = "off"  # the engine is driven by the test
os.environ["RLSCOPE_GC"] = "0"  # collections come when they like
import rlscope as rls
from rlscope import _runtime
"""


@dataclass
class Call:
    """One outermost native call, or one inside a callback of another."""

    name: str
    layer: int
    """trace::Layer: 2 simulator, 3 framework; 0 of what is no call."""
    operation: str
    """Innermost open operation when it began; empty if none."""
    start_ns: int
    end_ns: int = 0
    callbacks: list[Callback] = field(default_factory=list)


@dataclass
class Callback:
    """A stretch of Python inside a native call, or in a thread that was not in Python before."""

    start_ns: int
    end_ns: int = 0
    calls: list[Call] = field(default_factory=list)


def record_calls(directory: str, script: str) -> Recorded:
    """Runs a script that drives the engine by itself; see recorded_child.record."""
    return record(directory, PRELUDE + dedent(script))


def thread_callback(trace: Recorded, thread: int) -> Callback:
    """All that a thread recorded, as if it were one callback."""
    process = trace.process()["index"]
    names = trace.reader.names(process)
    known = {
        int(number): (text, int(layer))
        for number, text, layer in zip(names["id"], names["text"], names["layer"], strict=True)
    }
    root = Callback(0)
    _Nesting(known, root).replay(trace.reader.items(process, thread))
    return root


def calls_of(trace: Recorded, thread: int | None = None) -> list[Call]:
    """Every call of a thread (of the first one if None), those inside callbacks included."""
    number = trace.threads()[0] if thread is None else thread
    return list(_flatten(thread_callback(trace, number)))


def calls_by_operation(trace: Recorded) -> dict[str, list[str]]:
    """Operation -> names of the calls that began in it, in order."""
    found: dict[str, list[str]] = {}
    for call in calls_of(trace):
        found.setdefault(call.operation, []).append(call.name)
    return found


def _flatten(callback: Callback) -> Iterator[Call]:
    for call in callback.calls:
        yield call
        for inner in call.callbacks:
            yield from _flatten(inner)


class _Nesting:
    """Rebuilds the nesting of calls from the items of one thread."""

    def __init__(self, names: dict[int, tuple[str, int]], root: Callback) -> None:
        self._names = names
        self._stack: list[Call | Callback] = [root]
        self._operations: list[str] = []

    def replay(self, items: Any) -> None:
        columns = (items["time_ns"], items["kind"], items["id"], items["duration_ns"])
        for time, kind, number, duration in zip(*columns, strict=True):
            self._take(int(kind), int(number), int(time), int(duration))

    def _take(self, kind: int, number: int, time: int, duration: int) -> None:
        if kind == ENTER:
            self._operations.append(self._names[number][0])
        elif kind == EXIT:
            self._operations.pop()
        elif kind == CALL:
            self._begin(number, time)
            self._end(time + duration)
        elif kind == CALL_BEGIN:
            self._begin(number, time)
        elif kind == CALLBACK_BEGIN:
            self._call_back(time)
        elif kind in (CALL_END, CALLBACK_END):
            self._end(time)

    def _begin(self, number: int, time: int) -> None:
        parent = self._stack[-1]
        assert isinstance(parent, Callback), "a call inside a call without a callback between"
        operation = self._operations[-1] if self._operations else ""
        name, layer = self._names[number]
        call = Call(name, layer, operation, time)
        parent.calls.append(call)
        self._stack.append(call)

    def _call_back(self, time: int) -> None:
        parent = self._stack[-1]
        callback = Callback(time)
        if isinstance(parent, Call):
            parent.callbacks.append(callback)
        else:  # a thread that entered Python from outside
            outside = Call("", 0, "", time, callbacks=[callback])
            parent.calls.append(outside)
        self._stack.append(callback)

    def _end(self, time: int) -> None:
        self._stack.pop().end_ns = time

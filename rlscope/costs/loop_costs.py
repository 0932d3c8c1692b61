"""Measures the cost of one recorded event of each kind on this machine, in this interpreter.

A cost is the CPU time that recording adds to a loop that does the same and records nothing. The
loop has nothing else in the CPU's caches: between the calls of a program a record costs more.
"""

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from rlscope.recorder import runtime

# A quarter of the rounds has no disturbance. The cheapest alone is cheap by chance, in one of both.
_ROUNDS = 31
_TURNS = 1_000

_Function = Callable[[], object]


@dataclass(frozen=True)
class Costs:
    """CPU nanoseconds that one event adds to a program, by kind; None: not measured."""

    operation: float
    """Entering and leaving one, against the same `with` while nothing is recorded."""
    automatic: float
    """A segment of an automatic operation, against a call that is not watched."""
    native: float | None
    """A native call with a stub, against one without."""


def can_measure() -> bool:
    """False in a process that is itself recorded: rls-prof under rls-prof."""
    return runtime.state() == "off"


def measure() -> Costs:
    """The costs, in some 10 ms. Records into a directory of its own, which is removed.

    Raises:
        OSError: nothing can be recorded on this machine.
    """
    directory = tempfile.mkdtemp(prefix="rlscope-cost-")
    try:
        runtime.profile_begin(directory)
        try:
            # No automatic event is recorded after the first operation.
            return Costs(automatic=_automatic_ns(), native=_native_ns(), operation=_operation_ns())
        finally:
            runtime.profile_end()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _operation_ns() -> float:
    operation = runtime.operation("cost")

    def enter() -> None:
        for _ in itertools.repeat(None, _TURNS):
            with operation:
                pass

    def idle() -> int:
        runtime.stop()
        spent = _time(enter)
        runtime.start()
        return spent

    return _added_ns(lambda: _time(enter), idle) / _TURNS


def _automatic_ns() -> float:
    def plain() -> None:
        return None

    runtime.watch_imports({}, plain)
    watched = runtime.watch("forward", plain)
    segments = 2  # the forward, and what comes after it
    return _added_by_call_ns(watched, plain) / segments


def _native_ns() -> float | None:
    if runtime.intercept_supported() is not None or not runtime.intercept_probe():
        return None
    try:
        return _added_by_call_ns(runtime.recorded_call, runtime.plain_call)
    finally:
        runtime.intercept_unpatch()


def _added_by_call_ns(recorded: _Function, plain: _Function) -> float:
    def time_of(function: _Function) -> int:
        return _time(lambda: _call(function))

    return _added_ns(lambda: time_of(recorded), lambda: time_of(plain)) / _TURNS


def _added_ns(recorded: Callable[[], int], idle: Callable[[], int]) -> int:
    """What the first takes more than the second, in turns, each in its cheapest quarter."""
    rounds = [(recorded(), idle()) for _ in range(_ROUNDS)]
    recorded_ns = sorted(spent_ns for spent_ns, _ in rounds)[_ROUNDS // 4]
    idle_ns = sorted(spent_ns for _, spent_ns in rounds)[_ROUNDS // 4]
    return max(0, recorded_ns - idle_ns)


def _call(function: _Function) -> None:
    for _ in itertools.repeat(None, _TURNS):
        function()


def _time(function: _Function) -> int:
    start = time.thread_time_ns()
    function()
    return time.thread_time_ns() - start

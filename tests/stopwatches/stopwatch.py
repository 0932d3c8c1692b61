"""A stopwatch inside of a training program, to compare the page of the same run with.

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    with stopwatch:
        train()

It knows nothing of rlscope. What it wraps stays under its wrapper, where rlscope finds it.
"""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

MARK = "stopwatch: "
"""Begins the line in which a program prints what its stopwatch says."""
EVALUATION = "evaluation"
"""Everything inside is evaluation, too."""
COMPILATION = "compilation"
"""No part of the loop."""

Function = Callable[..., Any]


class Stopwatch:
    """Adds up the time of each kind of work in one thread. Work that is called inside of other work
    stops that one's clock.

    The loop begins and ends with work of training, inside of the `with` block: evaluations before
    the first such work, or after the last, lie around the loop.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._thread = threading.get_ident()
        self._own: dict[str, int] = {}
        self._pending: dict[str, int] = {}  # after the last work of training
        self._open: list[str] = []
        self._last = self._begin = self._end = 0
        self._is_running = False
        self._moved: list[tuple[int, int]] = []

    # ---- the loop ----------------------------------------------------------------------------

    def __enter__(self) -> Stopwatch:
        self._is_running = True
        return self

    def __exit__(self, kind: type | None, *exc: object) -> None:
        self._is_running = False
        if kind is None:
            print(f"\n{MARK}{json.dumps(self.result())}", flush=True)

    def result(self) -> dict[str, Any]:
        """Nanoseconds of the loop, and of each kind of work in it."""
        own = {kind: ns for kind, ns in self._own.items() if kind != COMPILATION}
        loop_ns = self._end - self._begin - self._own.get(COMPILATION, 0)
        return {"loop_ns": loop_ns, "own_ns": own}

    # ---- what is timed -----------------------------------------------------------------------

    def wrap(self, kind: str, owner: Any, *names: str, then: Function | None = None) -> None:
        """Times methods of an object, or functions of a module or class.

        `then`: called with each result while the clock runs, to wait for it.
        """
        for name in names:
            setattr(owner, name, self.timed(kind, getattr(owner, name), then))

    def timed(self, kind: str, function: Function, then: Function | None = None) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._counts():
                return function(*args, **kwargs)
            self._open_work(kind)
            try:
                result = function(*args, **kwargs)
                if then is not None:
                    then(result)
                return result
            finally:
                self._close_work()

        return call

    def wrap_generator(self, kind: str, owner: Any, name: str) -> None:
        """Times what a generator does for each of its items."""
        make = getattr(owner, name)

        @functools.wraps(make)
        def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            step = self.timed(kind, make(*args, **kwargs).__next__)
            while True:
                try:
                    item = step()
                except StopIteration:
                    return
                yield item

        setattr(owner, name, generate)

    def watch_jax(self) -> None:
        """Takes what JAX traces and compiles out of the loop, by JAX's own word."""
        from jax import monitoring

        def heard(event: str, seconds: float, **_: object) -> None:
            if event.startswith("/jax/core/compile/"):
                self.move(COMPILATION, round(seconds * 1e9))

        monitoring.register_event_duration_secs_listener(heard)

    def move(self, kind: str, ns: int) -> None:
        """The last `ns` were of this kind. Some of them may have been moved before."""
        if not self._counts():
            return
        self._lap()
        begin = self._last - ns
        before = sum(moved for end, moved in self._moved if end > begin)
        self._moved = [each for each in self._moved if each[0] <= begin] + [(self._last, ns)]
        self._add(kind, ns - before)
        if self._open:
            self._add(self._open[-1], before - ns)

    # ---- clock -------------------------------------------------------------------------------

    def _counts(self) -> bool:
        return self._is_running and threading.get_ident() == self._thread

    def _open_work(self, kind: str) -> None:
        self._lap()
        if not self._begin and kind != EVALUATION and not self._open:
            self._begin = self._last
            self._pending.clear()
        self._open.append(EVALUATION if EVALUATION in self._open else kind)

    def _close_work(self) -> None:
        self._lap()
        if self._open.pop() != EVALUATION and not self._open:
            self._end = self._last
            for kind, ns in self._pending.items():
                self._own[kind] = self._own.get(kind, 0) + ns
            self._pending.clear()

    def _lap(self) -> None:
        now = self._clock()
        if self._open:
            self._add(self._open[-1], now - self._last)
        self._last = now

    def _add(self, kind: str, ns: int) -> None:
        self._pending[kind] = self._pending.get(kind, 0) + ns

"""Reports to a function how far the making of tables has come, while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rlscope import _trace

Tell = Callable[[float], None]
"""Called with the part that is done, from a thread of its own; at the end, with 1."""

_INTERVAL_S = 0.2


class Progress:
    """Counts passes over the files of processes; one pass of a process weighs as its events."""

    def __init__(self, directory: _trace.Directory, tell: Tell | None) -> None:
        self._directory = directory
        self._processes: Sequence[Mapping[str, Any]] = directory.processes
        self._tell = tell
        self._passes = 1
        self._ended = [0] * len(self._processes)
        self._whole = 1

    @contextmanager
    def of(self, passes: int) -> Iterator[None]:
        """Tells, while it is open, how much of so many passes over every process is done."""
        self._passes = passes
        self._ended = [0] * len(self._processes)
        self._whole = passes * sum(self._weight(process) for process in self._processes)
        if self._tell is None:
            yield
            return
        done = threading.Event()
        thread = threading.Thread(target=self._run, args=(done,), name="rlscope-progress")
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._tell(1.0)

    def end_pass(self, index: int) -> None:
        """One more pass over this process is done."""
        self._ended[index] += 1

    def fraction(self) -> float:
        """The part of all passes that is done, 0 to 1."""
        done = sum(self._weight(each) * self._done(each) for each in self._processes)
        return min(done / self._whole, 1.0)

    def _done(self, process: Mapping[str, Any]) -> float:
        """Passes over one process, the part of the present one included."""
        index = int(process["index"])
        ended = self._ended[index]
        if ended == self._passes:
            return ended
        length = int(process["end_ns"]) - int(process["start_ns"])
        reached = self._directory.reached_ns(index) - int(process["start_ns"])
        return ended + min(max(reached, 0) / max(length, 1), 1.0)

    @staticmethod
    def _weight(process: Mapping[str, Any]) -> int:
        return int(process["events"]) + 1

    def _run(self, done: threading.Event) -> None:
        assert self._tell is not None
        while not done.wait(_INTERVAL_S):
            self._tell(self.fraction())

"""When iterations of a run began and ended, as far as its files say, and what these files are."""

from __future__ import annotations

from typing import Any, NamedTuple

from rlscope.rundir.kept_iterations import IterationRange


class Span(NamedTuple):
    """The time of a range of iterations, over the processes that have begun it."""

    start_ns: int
    end_ns: int
    """The end of its last iteration, or the last record so far if that has not ended."""
    is_over: bool
    last: int
    """The last iteration of it that has begun."""


class IterationSpans:
    """The iterations of all processes of a run; none, if none has recorded."""

    def __init__(self, directory: str) -> None:
        from rlscope import _trace  # 40 MB that no run without --rollup maps

        self._processes: list[dict[str, Any]] = []
        self._iterations: list[dict[str, Any]] = []
        try:
            # What lies in rings is not in files yet; a folder without any is as good as none.
            trace = _trace.Directory(directory, rings=f"{directory}/trace")
        except _trace.TraceError:
            return
        self._processes = trace.processes
        self._iterations = [trace.iterations(each["index"]) for each in self._processes]

    @property
    def count(self) -> int:
        """Iterations of the process that has most of them."""
        return max((len(each["start_ns"]) for each in self._iterations), default=0)

    def find(self, wanted: IterationRange) -> Span | None:
        """From the first begin of the range to its last end; None: no process has begun it."""
        spans = [
            _span(wanted, iterations, is_running=process["ended"] == "running")
            for process, iterations in zip(self._processes, self._iterations, strict=True)
            if len(iterations["start_ns"]) > wanted.first
        ]
        if not spans:
            return None
        return Span(
            min(span.start_ns for span in spans),
            max(span.end_ns for span in spans),
            all(span.is_over for span in spans),
            max(span.last for span in spans),
        )

    def files(self) -> list[str]:
        """Paths of the trace files of which the process has nothing to write any more."""
        return [
            path
            for process in self._processes
            for path in process["closed_files" if process["ended"] == "running" else "files"]
        ]


def _span(wanted: IterationRange, iterations: dict[str, Any], *, is_running: bool) -> Span:
    """The span of one process that has begun the range."""
    last = min(wanted.last, len(iterations["start_ns"]) - 1)
    is_followed = len(iterations["start_ns"]) > wanted.last + 1
    is_complete = last == wanted.last and bool(iterations["complete"][last])
    return Span(
        start_ns=int(iterations["start_ns"][wanted.first]),
        end_ns=int(iterations["end_ns"][last]),
        is_over=is_followed or is_complete or not is_running,
        last=last,
    )

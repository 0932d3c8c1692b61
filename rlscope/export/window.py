"""The part of a run that is exported: from a time up to another one, or some iterations."""

from __future__ import annotations

from dataclasses import dataclass

from rlscope.errors import RlscopeError
from rlscope.relations import step_numbers
from rlscope.relations.trace import Trace
from rlscope.rundir.kept_iterations import IterationRange

_LATEST_NS = (1 << 63) - 1


@dataclass(frozen=True)
class Window:
    """From a time up to another one, in nanoseconds of CLOCK_MONOTONIC."""

    from_ns: int
    until_ns: int
    run_start_ns: int
    is_whole: bool
    """Whether it is the whole run."""
    label: str = ""
    """What it is, for the name of a file; empty: the whole run."""

    @property
    def bounds(self) -> dict[str, int]:
        """The parameters of a statement."""
        return {"from_ns": self.from_ns, "until_ns": self.until_ns}


def between(trace: Trace, from_ns: int | None, until_ns: int | None) -> Window:
    """From a time up to another one, counted from the start of the run; None: its start, its end.

    Raises RlscopeError: the run has ended before it begins.
    """
    start_ns, end_ns = _span(trace)
    first_ns = start_ns + (from_ns or 0)
    if first_ns >= end_ns and from_ns:
        raise RlscopeError(
            f"the run takes {(end_ns - start_ns) / 1e9:.3f} s, nothing of it is behind "
            f"{from_ns / 1e9:g} s"
        )
    parts = [
        f"{word}-{_seconds(time_ns)}"
        for word, time_ns in (("from", from_ns), ("to", until_ns))
        if time_ns is not None
    ]
    last_ns = _LATEST_NS if until_ns is None else start_ns + until_ns
    return Window(first_ns, last_ns, start_ns, is_whole=not parts, label="-".join(parts))


def of_iterations(trace: Trace, wanted: IterationRange) -> Window:
    """From the first start of these iterations in any process up to their last end.

    Raises RlscopeError: no process has one of them.
    """
    start_ns, _ = _span(trace)
    found = trace.sql(_ITERATIONS, {"first": wanted.first, "last": wanted.last})
    ((from_ns, until_ns, first, last, runs_from, runs_to),) = found.rows()
    if runs_from is None:
        raise RlscopeError("the run has no iterations: give --from and --to")
    if first is None or first > wanted.first or last < wanted.last:
        told = step_numbers.sentence(trace.sql(_STEPS, {"key": step_numbers.NOTE})["value"])
        which = f"; {told}" if told else ""
        raise RlscopeError(f"no {wanted}: the run has iterations {runs_from} to {runs_to}{which}")
    return Window(from_ns, until_ns, start_ns, is_whole=False, label=wanted.folder)


_STEPS = "SELECT value FROM metadata WHERE key = $key ORDER BY process_id"
_ITERATIONS = """
SELECT
  min(start_ns) FILTER (iteration BETWEEN $first AND $last),
  max(start_ns + duration_ns) FILTER (iteration BETWEEN $first AND $last),
  min(iteration) FILTER (iteration BETWEEN $first AND $last),
  max(iteration) FILTER (iteration BETWEEN $first AND $last),
  min(iteration),
  max(iteration)
FROM iteration
"""


def _span(trace: Trace) -> tuple[int, int]:
    ((start_ns, end_ns),) = trace.sql("SELECT start_ns, end_ns FROM run").rows()
    return start_ns, end_ns


def _seconds(time_ns: int) -> str:
    whole, part = divmod(time_ns, 10**9)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".") + "s"

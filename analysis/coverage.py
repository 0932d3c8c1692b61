"""How much of the run the numbers cover, the losses, and caveats for the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def coverage(trace: Trace) -> Table:
    """One row: recorded and unrecorded time, time outside operations, CPU time of the program and
    of the profiler, events, bytes, processes with several threads that have operations."""
    return statement.run(trace, "coverage")


def loss_summary(trace: Trace, *, rows: int) -> Table:
    """kind, count, duration_ns, processes, detail of losses and repairs in the run."""
    return statement.run(trace, "loss_summary", rows=rows)


def cut(trace: Trace) -> Table:
    """kind, after_ns, left_ns, processes, reason: where recording stopped before the program."""
    return statement.run(trace, "cut")


def why_absent(trace: Trace, relation: str) -> Table:
    """reason: why the trace cannot have a row of the relation; no row: it could, or has some."""
    return statement.run(trace, "absence", relation=relation)

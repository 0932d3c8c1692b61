"""What a trace holds, and what it cannot: its processes and their size, losses, unknown columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def recorded_processes(trace: Trace) -> Table:
    """process_id, parent, os_pid, name, python, ended, exit, wall_ns, cpu_ns, events, file_bytes:
    every process."""
    return statement.run(trace, "recorded_process")


def size(trace: Trace) -> Table:
    """One row: processes, events, file_bytes."""
    return statement.run(trace, "trace_size")


def losses(trace: Trace) -> Table:
    """kind, count, duration_ns, details (a list, None: nothing more is known): the most frequent
    first."""
    return statement.run(trace, "loss_detail")


def absent(trace: Trace) -> Table:
    """reason, what (relations and columns, joined by commas): what the trace cannot fill."""
    return statement.run(trace, "absent_by_reason")

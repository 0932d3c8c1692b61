"""Why loops do not go on and GPUs are idle; and single calls that are most of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def reasons(trace: Trace) -> Table:
    """operation, source, reason, duration_ns, idle_ns, whole_ns: the longest first."""
    return statement.run(trace, "idle")


def outliers(trace: Trace, *, least: int, share: float, rows: int) -> Table:
    """process_id, thread_id, operation, source, count, whole_ns, longest_ns, usual_ns, start_ns,
    duration_ns: operations with at least `least` instances, of which one has more than `share` of
    their own time."""
    return statement.run(trace, "outlier_instance", least=least, share=share, rows=rows)


def calls_in(
    trace: Trace, *, process: int, thread: int, start_ns: int, end_ns: int, rows: int
) -> Table:
    """kind, name, layer, start_ns, duration_ns: the longest calls in an interval of a thread. It
    makes the relation `event`, if nothing did before."""
    interval = {"process": process, "thread": thread, "start_ns": start_ns, "end_ns": end_ns}
    return statement.run(trace, "outlier_call", **interval, rows=rows)

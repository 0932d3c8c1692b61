"""How long an iteration takes, whether that drifts, and what it costs in each operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def iteration_summary(trace: Trace, *, processes: int) -> Table:
    """The complete iterations of each process: number, mean, median, p95, min, max, and the
    drift from the median of the first tenth to that of the last (None below 20 iterations, or if
    they differ much)."""
    return statement.run(trace, "iteration_summary", processes=processes)


def loop_iterations(trace: Trace) -> Table:
    """One row: iterations (None: unknown) that the process with the most completed, of those that
    count, and their mean_ns."""
    return statement.run(trace, "loop_iteration")


def iteration_series(trace: Trace, *, points: int, processes: int) -> Table:
    """process_id, point, first, last, median_ns, min_ns, max_ns: iterations in order, in at most
    `points` groups of neighbours."""
    return statement.run(trace, "iteration_series", points=points, processes=processes)


def iteration_cost(trace: Trace, *, operations: int) -> Table:
    """process_id, operation, per_iteration (entries, None: between operations), mean_ns, median_ns,
    p95_ns: own time of each operation in one complete iteration, and the time between them."""
    return statement.run(trace, "iteration_cost", operations=operations)


def extrapolation(trace: Trace, *, processes: int) -> Table:
    """process_id, name, reports, done, total, share, elapsed_ns, whole_ns: how long the whole run
    takes, judging by rls.progress(done, total)."""
    return statement.run(trace, "extrapolation", processes=processes)


def iteration_ends(trace: Trace) -> Table:
    """os_pid, process_id, iteration, end_ns: when each complete iteration ended."""
    return statement.run(trace, "iteration_end")


def iteration_times(trace: Trace) -> Table:
    """process_id, iteration, operation, ns: of operations that the program annotates."""
    return statement.run(trace, "iteration_time")


def iteration_entries(trace: Trace) -> Table:
    """process_id, iteration (None: outside of all), operation, entries: of the same operations."""
    return statement.run(trace, "iteration_entry")


def iteration_window(trace: Trace, *, first: int, last: int) -> Table:
    """One row: from_ns, until_ns, first, last (None: the run has none of them), runs_from, runs_to
    (None: the run has no iterations)."""
    return statement.run(trace, "iteration_window", first=first, last=last)

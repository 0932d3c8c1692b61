"""Who waited for whom, and what kept them waiting; columns are described in analysis/sql."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def waited_for(trace: Trace) -> Table:
    """operation, kind, role, name, peers, self_ns, share, loop_share: for what the processes that
    count in shares waited."""
    return statement.run(trace, "waited_for")


def process_waits(trace: Trace) -> Table:
    """process_id, process, operation, kind, role, name, peers, self_ns, process_ns: the same for
    each of these processes, the longest first."""
    return statement.run(trace, "process_wait")


def worker_steps(trace: Trace) -> Table:
    """One row per process served, operation and environment worker: operation_ns, steps, any_ns,
    stepped_ns, pickled_ns, server_pickled_ns, last, late_ns, slow_ns. The straggler of an operation
    first."""
    return statement.run(trace, "worker_step")


def critical_processes(trace: Trace) -> Table:
    """process_id, process, critical_id, critical, iterations, of, critical_ns: which process most
    of the time of each complete iteration belongs to, itself or an environment worker."""
    return statement.run(trace, "critical_process")


def critical_iterations(trace: Trace, *, iterations: int) -> Table:
    """process_id, process, iteration, duration_ns, critical_id, critical, critical_ns: the same for
    each of so many iterations, the longest ones."""
    return statement.run(trace, "critical_iteration", iterations=iterations)

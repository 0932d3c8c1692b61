"""Who waited for whom, and what kept them waiting; columns are described in analysis/sql."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement, verdicts
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def waited_for(trace: Trace) -> Table:
    """stage, operation, kind, role, family, name, last_name, peers, self_ns, share: for what the
    processes that count in shares waited. `operation` None: in all of the stage."""
    return statement.run(trace, "waited_for")


def waited_beside(trace: Trace) -> Table:
    """stage, role, family, name, last_name, peers, self_ns: for which processes a thread without
    operations waits longest, beside the one that the time between operations is of."""
    return statement.run(trace, "waited_beside")


def explained_waits(trace: Trace) -> list[dict[str, Any]]:
    """Rows of `waited_for`. Those of waits for a thread have in `beside` the row of `waited_beside`
    that explains them."""
    rows = waited_for(trace).to_dicts()
    beside = {row["stage"]: row for row in waited_beside(trace).to_dicts()}
    for row in rows:
        found = beside.get(row["stage"]) if row["kind"] == "thread" else None
        if found and verdicts.is_wait_explained(found["self_ns"], row["self_ns"]):
            row["beside"] = found
    return rows


def process_waits(trace: Trace) -> Table:
    """process_id, process, operation, kind, role, family, name, last_name, peers, self_ns,
    process_ns: the same for each of these processes, the longest first."""
    return statement.run(trace, "process_wait")


def worker_steps(trace: Trace) -> Table:
    """One row per process served, operation and environment worker: operation_ns, steps, any_ns,
    stepped_ns, all_stepped_ns, excess_ns, tail_ns, until_ns, pickled_ns, server_pickled_ns, last,
    late_ns. The slowest worker of an operation first."""
    return statement.run(trace, "worker_step")


def served_processes(trace: Trace) -> set[int]:
    """Processes that wait for environment workers."""
    return {*statement.run(trace, "served_process")["process_id"]}


def workers_of(trace: Trace, process_id: int) -> dict[str, list[dict[str, Any]]]:
    """The rows of `worker_steps` of a process served, by operation."""
    found: dict[str, list[dict[str, Any]]] = {}
    # worker_step reads all entries of the run, however few processes wait for a worker.
    if process_id not in served_processes(trace):
        return found
    for row in worker_steps(trace).to_dicts():
        if row["process_id"] == process_id:
            found.setdefault(row["operation"], []).append(row)
    return found


def critical_iterations(trace: Trace) -> Table:
    """process_id, process, iteration, duration_ns, waited_ns, and the columns of `waited_for` that
    name whom the process waits for most: one row for each complete iteration of processes that
    wait for others. The process that waits most and its longest iteration first."""
    return statement.run(trace, "critical_iteration")


def collectives(trace: Trace, *, rows: int) -> Table:
    """process_id, process, name, calls, meetings, duration_ns, waited_ns, last, late_ns, loop_ns,
    last_process, last_last: who waits in collectives for whom, the longest waits first."""
    return statement.run(trace, "collective", rows=rows)

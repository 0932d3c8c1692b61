"""The tree of processes, and the cost of each process and each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def process_tree(trace: Trace, *, processes: int) -> Table:
    """One row per process, parents before children (`depth`), at most the `processes` longest:
    wall, CPU and profiler CPU time, time in operations, events, threads, children, exit."""
    return statement.run(trace, "process_tree", processes=processes)


def helper_total(trace: Trace) -> Table:
    """family, processes, cpu_ns of the helpers without a training loop."""
    return statement.run(trace, "helper_total")


def process_names(trace: Trace) -> Table:
    """process_id, name, os_pid of every process."""
    return statement.run(trace, "process_name")


def role_time(trace: Trace, *, roles: int) -> Table:
    """role, processes, layer, gpu_busy, duration_ns, role_ns, whole_ns: recorded wall time of the
    processes whose names differ in their number only; those beyond the `roles` largest are
    '(other roles)'. Helpers without a training loop are left out."""
    return statement.run(trace, "role_time", roles=roles)


def uncounted_roles(trace: Trace) -> Table:
    """role, processes: how many processes are in no share, as others have a training loop."""
    return statement.run(trace, "uncounted_role")


def unrecorded_programs(trace: Trace, *, programs: int) -> Table:
    """kind, program, processes, reason, remedy, ran_ns, cpu_ns, kind_ns, kind_processes,
    kind_programs, kind_cpu_ns, run_ns, all_cpu_ns, waited_ns: what ran and was not recorded; at
    most `programs` rows."""
    return statement.run(trace, "unrecorded_program", programs=programs)

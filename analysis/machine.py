"""Readings of the machine over time, and polled utilisation beside what the run did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def machine_series(trace: Trace, *, points: int, processes: int) -> Table:
    """host_id, host, process_id (None: the machine), process, os_pid, metric, point, start_ns
    (since the run began), mean, max, readings; of the `processes` processes that used most CPU."""
    return statement.run(trace, "machine_series", points=points, processes=processes)


def utilisation(trace: Trace, *, processes: int) -> Table:
    """kind, gpu, core, process_id, process, os_pid, duration_ns, polled_percent, cpu_ns,
    busy_ns, cuda_api_ns, waiting_ns, cores, machine_percent: of GPUs in use, the busiest core, and
    the `processes` processes with the most CPU time."""
    return statement.run(trace, "utilisation", processes=processes)


def machine_share(trace: Trace) -> Table:
    """host_id, cores, polled_percent, run_percent (None: not known): how busy the machines were,
    and how much of that the run was; the busiest first."""
    return statement.run(trace, "machine_share")


def gpu_busy_series(trace: Trace, *, buckets: int, processes: int) -> Table:
    """process_id, name, start_ns (since the run began), bucket_ns, busy_ns of the processes that
    used a GPU: time with at least one piece of GPU work running."""
    return statement.run(trace, "gpu_busy_series", buckets=buckets, processes=processes)

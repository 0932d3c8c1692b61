"""CUDA calls and GPU work by operation, and the waits for the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def operations(trace: Trace, *, operations: int) -> Table:
    """operation, launches, launch_bound, launched_ns, while_ns, api_ns, waiting_ns, gpu_ns: one
    row per operation, those beyond `operations` in one."""
    return statement.run(trace, "cuda_operation", operations=operations)


def device_times(trace: Trace, *, operations: int) -> Table:
    """operation, gpu, while_ns, launched_ns: GPU time of operations, by GPU of the machine."""
    return statement.run(trace, "cuda_device_time", operations=operations)


def kernels(trace: Trace, *, kernels: int, operations: int) -> Table:
    """operation, function, launches, launch_bound, duration_ns, min_ns, max_ns, kernel_ns,
    functions: the longest kernels of each operation; function NULL: its others."""
    return statement.run(trace, "cuda_kernel", kernels=kernels, operations=operations)


def longest_kernels(trace: Trace, *, kernels: int) -> Table:
    """function, launches, launch_bound, duration_ns, kernel_ns, functions: over all operations;
    function NULL: the others."""
    return statement.run(trace, "cuda_kernel_total", kernels=kernels)


def copies(trace: Trace) -> Table:
    """direction ("memset" too), memory, copies, bytes, duration_ns."""
    return statement.run(trace, "cuda_copy")


def syncs(trace: Trace, *, rows: int) -> Table:
    """operation, kind, calls, duration_ns, waiting_ns; both NULL: the others."""
    return statement.run(trace, "cuda_sync", rows=rows)


def total(trace: Trace) -> Table:
    """calls, api_ns, errors, launches, launch_bound, unlinked, without_work, apart_ns, gpu_ns,
    seen, iterations, calls_everywhere: one row; without_work, apart_ns and gpu_ns are NULL where
    GPU work was not recorded."""
    return statement.run(trace, "cuda_total")


def absence(trace: Trace) -> Table:
    """reason: why there is nothing of CUDA; no row when there is."""
    return statement.run(trace, "cuda_absence")


def problems(trace: Trace, *, rows: int) -> Table:
    """problem: why not all of CUDA was recorded, as the processes noted it."""
    return statement.run(trace, "cuda_problem", rows=rows)

"""Time of operations, as charts and trees show it; columns are described in analysis/sql.

"All processes" means those that have a training loop and count in shares: a launcher, or a worker
that serves another process, would otherwise hide what the loop does. When no process has a loop it
means every process. Shares are of the training loop (docs/reference/semantics.md, "Shares in the
report").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.analysis.operation_tree import operation_tree as operation_tree
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Name of a group's smaller operations together.
OTHER_OPERATIONS = "(other operations)"
# Stages that shares are of.
SHARED_STAGES = ("loop", "whole")
OUTSIDE = "(none)"
# The part of it that lies between operations.
BETWEEN = "(between operations)"
NOT_RECORDED = "(not recorded)"
# The part of the end that lies after Python.
SHUTDOWN = "(shutdown)"
# 10 million take 0.9 s and 450 MiB to look at.
_INSTANCES = 2_000_000


def where(operation: str) -> str:
    """In a sentence about the training loop.

    >>> where("simulation"), where("(none)")
    ('in simulation', 'between operations')
    """
    return "between operations" if operation == OUTSIDE else f"in {operation}"


def operation_time(trace: Trace, *, operations: int, processes: int) -> Table:
    """process_id, operation, layer, gpu_busy, duration_ns, operation_ns, group_ns, and the same
    times without what recording cost (None: not known): wall time of the `operations` largest
    operations in the training loop, of all processes (process_id None) and of each of the
    `processes` longest."""
    return statement.run(trace, "operation_time", operations=operations, processes=processes)


def state_time(trace: Trace, *, operations: int, processes: int) -> Table:
    """process_id, operation (None: all), state, duration_ns, operation_ns, group_ns: the same by
    GPU state (cpu, cpu+gpu, gpu, waiting, idle, unknown)."""
    return statement.run(trace, "state_time", operations=operations, processes=processes)


def automatic_operations(trace: Trace, *, operations: int) -> Table:
    """operation, rule (how it was found, None: unknown), instances, duration_ns, loop_ns: the
    `operations` largest of those that rlscope found by itself."""
    return statement.run(trace, "automatic_operation", operations=operations)


def generations(trace: Trace, *, rows: int) -> Table:
    """process, tokens, generations, duration_ns: what models wrote, the most first."""
    return statement.run(trace, "generation", rows=rows)


def unnamed_libraries(trace: Trace) -> Table:
    """library, self_ns: the frameworks that were called outside of operations, the most used
    first."""
    return statement.run(trace, "unnamed_library")


def gpu_absence(trace: Trace) -> Table:
    """reason: why the trace has no GPU work; without rows when it has."""
    return statement.run(trace, "gpu_absence")


def around_loop(trace: Trace) -> Table:
    """stage (start-up, warm-up, end), operation (None: in none, SHUTDOWN), duration_ns, stage_ns,
    stage_waited_ns: time around the training loops, by outermost operation."""
    return statement.run(trace, "around_loop")


def ending_lines(trace: Trace, *, rows: int) -> Table:
    """file, line, own_ns: where the program was after its loop, outside of operations."""
    return statement.run(trace, "ending_line", rows=rows)


def ending_parts(trace: Trace, *, rows: int) -> Table:
    """what, function, duration_ns: joining of threads and exit functions after the loops."""
    return statement.run(trace, "ending_part", rows=rows)


def loop_time(trace: Trace) -> Table:
    """process_id, operation, layer, gpu_busy (None: not recorded), duration_ns, corrected_ns and
    the ends of its 95 % interval (None: no cost is known): wall time in the training loop of each
    process that counts."""
    return statement.run(trace, "loop_time")


def between_operations(trace: Trace, *, rows: int, instances: int = _INSTANCES) -> Table:
    """before, after, why (None: both are known), pauses, duration_ns, between_ns: time between
    operations in the training loops, by the outermost operations around it, the `rows` largest
    pairs first. Only the first `instances` operations are looked at."""
    return statement.run(trace, "between_operation", rows=rows, instances=instances)

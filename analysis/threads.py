"""Operations of threads that do not own their process, threads without a CPU, blocked ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def beside_owner(trace: Trace, *, rows: int) -> Table:
    """process, os_pid, thread, os_tid, operation, duration_ns, layer, layer_ns, beside_ns: time of
    threads in operations of which the process view does not show all, because another thread owned
    the process meanwhile."""
    return statement.run(trace, "thread_operation", rows=rows)


def cpu_lack(trace: Trace) -> Table:
    """role (None: of the processes that count), threads, processes, runnable_ns, measured_ns: how
    long threads with operations could have run and had no CPU."""
    return statement.run(trace, "cpu_lack")


def blocked(trace: Trace, *, rows: int) -> Table:
    """operation, blocked_ns, blocked_low_ns, blocked_high_ns, readings,
    operation_ns, loop_ns: how much of each operation's time in the training loops was blocked in
    native code, where no call of the interpreter shows it."""
    return statement.run(trace, "blocked", rows=rows)

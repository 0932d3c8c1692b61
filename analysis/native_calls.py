"""Which native functions of simulators and frameworks take the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def top_calls(trace: Trace, *, functions: int, operations: int) -> Table:
    """operation, function, layer, calls, duration_ns, self_ns, native_ns, hidden: the longest
    `functions` of each of the `operations` with the most native time."""
    return statement.run(trace, "native_call_top", functions=functions, operations=operations)


def longest_calls(trace: Trace, *, functions: int) -> Table:
    """function, layer, calls, duration_ns, self_ns, share, processes: the longest over all
    operations and processes."""
    return statement.run(trace, "native_call_total", functions=functions)


def short_calls(trace: Trace) -> Table:
    """One row: calls, at least so many waits and picklings that were too short for a record."""
    return statement.run(trace, "short_call")

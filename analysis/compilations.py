"""What libraries compiled, and compiled functions that nobody looks into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def compilations(trace: Trace, *, rows: int) -> Table:
    """compiler, function, file, line, count, total_ns, all_ns, functions, whole_ns: the functions
    that took longest to compile."""
    return statement.run(trace, "compilation", rows=rows)


def compiled_call(trace: Trace) -> Table:
    """function, duration_ns, loop_ns, compiler: the compiled function that takes most of the
    training loops; no row without one."""
    return statement.run(trace, "compiled_call")

"""Which modules took how long to import; columns are described in analysis/sql."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def modules(trace: Trace, *, rows: int) -> Table:
    """role, module, processes, imported_by, asked_by, asked_ns, total_ns, self_ns, cpu_ns: the
    longest of each role, at most `rows` that the program asked for and `rows` of the others."""
    return statement.run(trace, "import_module", rows=rows)


def totals(trace: Trace) -> Table:
    """role, name, processes, wall_ns, cpu_ns, modules, run_ns."""
    return statement.run(trace, "import_total")

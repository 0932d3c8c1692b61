"""Which modules took how long to import; columns are described in analysis/sql."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def modules(trace: Trace, *, rows: int) -> Table:
    """role, module, processes, imported_by, asked_by, is_outermost, total_ns, self_ns, cpu_ns: the
    longest of each role, at most `rows` that other modules imported and `rows` that none did."""
    return statement.run(trace, "import_module", rows=rows)


def totals(trace: Trace) -> Table:
    """role, name, processes, wall_ns, cpu_ns, modules, run_ns."""
    return statement.run(trace, "import_total")

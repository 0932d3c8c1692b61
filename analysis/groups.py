"""Wall time by group of operations: rlscope/trace/groups.py has the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import operations
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.table import Table
from rlscope.trace.groups import GROUPS, group_of

if TYPE_CHECKING:
    from rlscope.trace.trace import Trace

__all__ = ["BETWEEN_OPERATIONS", "GROUPS", "group_time"]

BETWEEN_OPERATIONS = "between operations"
_EVERY = 1 << 31


def group_time(trace: Trace) -> Table:
    """group, operation, layer, gpu_busy, duration_ns, operation_ns, group_ns, whole_ns: wall time
    in the training loops, of all processes that count in shares; the largest group and
    in it the largest operation first. Shares are of whole_ns."""
    rows = operations.operation_time(trace, operations=_EVERY, processes=0).to_dicts()
    sums: dict[str, int] = {}
    for row in rows:
        row["whole_ns"] = row.pop("group_ns")
        row["group"] = _group_of_row(row["operation"])
        sums[row["group"]] = sums.get(row["group"], 0) + row["duration_ns"]
    for row in rows:
        row["group_ns"] = sums[row["group"]]
    rows.sort(key=lambda row: (-row["group_ns"], row["group"]))  # in a group as they were
    names = ("group", "operation", "layer", "gpu_busy", "duration_ns", "operation_ns", "group_ns")
    columns = {name: [row[name] for row in rows] for name in (*names, "whole_ns")}
    return Table(columns, name="group_time")


def _group_of_row(operation: str) -> str:
    return BETWEEN_OPERATIONS if operation in (BETWEEN, OUTSIDE) else group_of(operation)

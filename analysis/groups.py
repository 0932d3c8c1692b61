"""Wall time by group of operations: rlscope/relations/groups.py has the groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import operations, statement
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.relations.groups import GROUPS, group_of
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

__all__ = ["BETWEEN_OPERATIONS", "GROUPS", "WAITING_BETWEEN", "group_time", "waiting_between_ns"]

BETWEEN_OPERATIONS = "between operations"
WAITING_BETWEEN = "waiting between operations"
_EVERY = 1 << 31


def group_time(trace: Trace, *, waiting: bool = False) -> Table:
    """group, operation, layer, gpu_busy, duration_ns, operation_ns, group_ns, whole_ns: wall time
    in the training loops, of all processes that count in shares; the largest group and
    in it the largest operation first. Shares are of whole_ns.

    `waiting`: waits between operations are a group of their own, which is the last.
    """
    rows = operations.operation_time(trace, operations=_EVERY, processes=0).to_dicts()
    sums: dict[str, int] = {}
    for row in rows:
        row["whole_ns"] = row.pop("group_ns")
        row["group"] = _group_of_row(row, waiting)
        sums[row["group"]] = sums.get(row["group"], 0) + row["duration_ns"]
    for row in rows:
        row["group_ns"] = sums[row["group"]]
        if waiting and row["operation"] == BETWEEN:
            row["operation_ns"] = row["group_ns"]
    # In a group as they were.
    rows.sort(key=lambda row: (row["group"] == WAITING_BETWEEN, -row["group_ns"], row["group"]))
    names = ("group", "operation", "layer", "gpu_busy", "duration_ns", "operation_ns", "group_ns")
    columns = {name: [row[name] for row in rows] for name in (*names, "whole_ns")}
    return Table(columns, name="group_time")


def paths_in(trace: Trace, process_id: int, group: str) -> list[str]:
    """The operations of a group in the training loop of a process, by path."""
    rows = statement.run(trace, "loop_operation", process_id=process_id).to_dicts()
    return [row["operation"] for row in rows if group_of(row["operation"]) == group]


def paths_but(trace: Trace, process_id: int, *others: str) -> list[str]:
    """The operations of all groups but some, and the time in none."""
    rows = statement.run(trace, "loop_operation", process_id=process_id).to_dicts()
    paths = (row["operation"] for row in rows)
    return [*(path for path in paths if group_of(path) not in others), OUTSIDE]


def paths_of(trace: Trace, process_id: int, group: str) -> list[str]:
    """The operations of a group in the whole of a process, the one with most time first."""
    rows = statement.run(trace, "process_operation", process_id=process_id).to_dicts()
    return [row["operation"] for row in rows if group_of(row["operation"]) == group]


def paths_everywhere(trace: Trace, group: str) -> list[str]:
    """The operations of a group in all processes, by path."""
    paths = statement.run(trace, "findings/operation_path")["path"]
    return [path for path in paths if group_of(path) == group]


def waiting_between_ns(times: Sequence[Mapping[str, Any]]) -> int:
    """Rows of `group_time`: waits between operations, where they are a group of their own."""
    return next((row["group_ns"] for row in times if row["group"] == WAITING_BETWEEN), 0)


def _group_of_row(row: dict[str, Any], waiting: bool) -> str:
    if row["operation"] not in (BETWEEN, OUTSIDE):
        return group_of(row["operation"])
    return WAITING_BETWEEN if waiting and row["layer"] == "wait" else BETWEEN_OPERATIONS

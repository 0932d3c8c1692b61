"""Views of a chart: all processes first, then one view per process, by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rlscope.report import units
from rlscope.table import Table

ALL = "all processes with operations"

Rows = list[dict[str, Any]]


def by_process(table: Table) -> dict[int | None, Rows]:
    """The rows of each process, in the order of the table; None are the rows of all processes."""
    groups: dict[int | None, Rows] = {}
    for row in table.to_dicts():
        groups.setdefault(row["process_id"], []).append(row)
    return groups


def named(groups: dict[int | None, Rows], processes: Table) -> dict[str, Rows]:
    """The same rows by the name of their view. A view of one process that equals the view of all
    is left out."""
    names = labels(processes)
    whole = _values(groups.get(None, []))
    return {
        ALL if process_id is None else names[process_id]: rows
        for process_id, rows in groups.items()
        if process_id is None or _values(rows) != whole
    }


def labels(processes: Table) -> dict[int, str]:
    """ "trainer (pid 4711)" for each process_id, with its number where that is not unique: a pid
    has one image after the other when it calls exec."""
    shown = {
        process_id: f"{units.visible(name or '?')} (pid {os_pid or 'unknown'})"
        for process_id, name, os_pid in processes.select("process_id", "name", "os_pid")
    }
    counts = Counter(shown.values())
    return {
        process_id: label if counts[label] == 1 else f"{label} #{process_id}"
        for process_id, label in shown.items()
    }


def _values(rows: Rows) -> list[tuple[Any, ...]]:
    return [tuple(value for key, value in row.items() if key != "process_id") for row in rows]

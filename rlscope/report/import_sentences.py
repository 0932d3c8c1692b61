"""Imports in words: how long they take, and which are the slowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.analysis import verdicts
from rlscope.report import units

SLOWEST = 5


def notable(totals: Sequence[Mapping[str, Any]], modules: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence for each role whose imports are a notable part of the run.

    Args:
        totals: rows of `import_total`.
        modules: rows of `import_module`.
    """
    return [
        _sentence(total, [row for row in modules if row["role"] == total["role"]])
        for total in totals
        if verdicts.are_imports_notable(total)
    ]


def _sentence(total: Mapping[str, Any], modules: Sequence[Mapping[str, Any]]) -> str:
    asked = [
        row for row in modules if verdicts.is_module_named(row["asked_ns"] or 0, total["wall_ns"])
    ]
    asked.sort(key=lambda row: row["asked_ns"], reverse=True)
    slowest = ", ".join(
        f"{units.label(row['module'])} {units.duration(row['asked_ns'])}{_asker(row)}"
        for row in asked[:SLOWEST]
    )
    return f"{_length(total)}{': ' if slowest else ''}{slowest}."


def _length(total: Mapping[str, Any]) -> str:
    wall, run = units.duration(total["wall_ns"]), units.duration(total["run_ns"])
    if total["processes"] == 1:
        return f"Imports of {units.label(total['name'] or '?')} take {wall} of the run's {run}"
    who = units.plural(total["processes"], total["role"] or "process")
    return f"Imports of {who} take {wall} each, with {units.duration(total['cpu_ns'])} of CPU each"


def _asker(row: Mapping[str, Any]) -> str:
    return f" ({place(row['asked_by'])})" if row["asked_by"] else ""


def place(asked_by: str) -> str:
    """ "train.py line 3" of "/home/me/train.py:3"."""
    file, _, line = asked_by.rpartition(":")
    return units.line_of(file, line)

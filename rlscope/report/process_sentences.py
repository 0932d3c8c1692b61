"""Processes that a table leaves out, and those that nothing recorded, in one sentence each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.analysis import verdicts
from rlscope.analysis.verdicts import Unrecorded
from rlscope.report import units

_FAMILIES = 5


def left_out(shown: int, there: int, helpers: Sequence[Mapping[str, Any]]) -> list[str]:
    """
    Args:
        shown: rows of the table.
        there: processes of the run.
        helpers: rows of analysis.processes.helper_total, which the table has no rows of.
    """
    folded = sum(row["processes"] for row in helpers)
    more = there - folded - shown
    return [
        *([_shorter(more)] if more > 0 else []),
        *([_helpers(folded, helpers)] if folded else []),
    ]


def _shorter(more: int) -> str:
    noun = "process" if more == 1 else "processes"
    return f"The table leaves out {more:,} shorter {noun}; relation `process` has all."


def _helpers(folded: int, rows: Sequence[Mapping[str, Any]]) -> str:
    named = [_family(row) for row in rows[:_FAMILIES]]
    others = units.plural(sum(row["processes"] for row in rows[_FAMILIES:]), "other")
    cpu_ns = sum(row["cpu_ns"] for row in rows)
    kinds = ", ".join([*named, *([others] if rows[_FAMILIES:] else [])])
    helpers = units.plural(folded, "helper process")
    return f"{helpers} used {units.duration(cpu_ns)} of CPU time: {kinds}."


def _family(row: Mapping[str, Any]) -> str:
    name = units.label(row["family"])
    return name if row["processes"] == 1 else f"{row['processes']:,} x {name}"


def unrecorded(
    rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], wanted: Unrecorded
) -> list[str]:
    """What ran and was not recorded, and what would record it: a sentence or two for each kind.

    Args:
        rows: of `unrecorded_program`.
        facts: the row of `coverage`.
        wanted: the verdict of which the sentences are.
    """
    first = {row["kind"]: row for row in reversed(rows)}
    chosen = [row for row in rows if first[row["kind"]] is row]
    return [_unrecorded(row) for row in chosen if verdicts.unrecorded(row, facts) is wanted]


def _unrecorded(row: Mapping[str, Any]) -> str:
    what = units.label(row["program"])
    others = row["kind_processes"] - 1
    what += f" and {units.plural(others, 'other process')}" if others else ""
    how = "" if row["kind"] == "elsewhere" else " unrecorded"
    said = (
        f"{what} ran {units.duration(row['kind_ns'])}{how}, "
        f"{units.share(row['kind_ns'], row['run_ns'])} of the run: {units.visible(row['reason'])}."
    )
    return f"{said} {units.visible(row['remedy'])}" if row["remedy"] else said

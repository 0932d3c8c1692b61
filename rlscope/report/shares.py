"""The one denominator of the page and of the terminal, by its name.

docs/reference/semantics.md ("Shares in the report") defines it; `coverage` has it as span_ns.
"""

from __future__ import annotations

from typing import Any

from rlscope.report import units, views

_SPAN = "the time from the first operation to the last"
# Above this share of it between operations, page and terminal say so at their top.
NOTABLE_BETWEEN = 0.2
# Above this share of the time in operations, those that rlscope found by itself are worth a word.
NOTABLE_FOUND = 0.05


def whole_name(facts: dict[str, Any]) -> str:
    """The whole of every share: "the time from the first operation to the last of 3 processes"."""
    name = _SPAN if facts["annotated_processes"] else "the recorded time"
    processes = facts["annotated_processes"] or facts["processes"]
    return name if processes < 2 else f"{name}, of {units.plural(processes, 'process')} together"


def of_view(view: str, whole: str) -> str:
    """The whole of the shares in a chart's view: of one process, its own time."""
    return whole if view == views.ALL else f"{_SPAN} of the process"


def left_out(facts: dict[str, Any]) -> list[str]:
    """The times that are in no share: one sentence, or none."""
    if not facts["annotated_processes"]:
        return []
    parts = {
        "start-up (before the first operation)": facts["startup_ns"],
        "end (after the last)": facts["end_ns"],
        "gaps between recording windows": facts["not_recorded_ns"],
    }
    named = [f"{name} {units.duration(ns)}" for name, ns in parts.items() if ns]
    return [f"Not in the shares: {', '.join(named)}."] if named else []

"""The one denominator of the page and of the terminal, by its name.

docs/reference/semantics.md ("Shares in the report") defines it; `coverage` has it as span_ns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rlscope.report import units, views
from rlscope.report.panel import Figure
from rlscope.table import Table

_LOOP = "the training loop"
_LOOPS = "the training loops"


@dataclass(frozen=True)
class Time:
    """Columns of operation_time and state_time that belong together."""

    row: str
    operation: str
    group: str


RECORDED = Time("duration_ns", "operation_ns", "group_ns")
CORRECTED = Time("corrected_ns", "operation_corrected_ns", "group_corrected_ns")


def both(
    times: Table, names: Iterable[str], figure: Callable[[str, Time], Figure]
) -> tuple[dict[str, Figure], dict[str, Figure]]:
    """The views of a chart as recorded, and without what recording cost where that is known."""
    known = None not in times["corrected_ns"]
    return (
        {name: figure(name, RECORDED) for name in names},
        {name: figure(name, CORRECTED) for name in names if known},
    )


def whole_name(facts: dict[str, Any]) -> str:
    """The whole of every share: "the training loops of 3 processes together"."""
    processes = facts["looping_processes"] or facts["processes"]
    if processes < 2:
        return _LOOP if facts["looping_processes"] else "the recorded time"
    name = _LOOPS if facts["looping_processes"] else "the recorded time"
    return f"{name} of {units.plural(processes, 'process')} together"


def of_view(view: str, whole: str) -> str:
    """The whole of the shares in a chart's view: of one process, its own time."""
    return whole if view == views.ALL else f"{_LOOP} of the process"


def left_out(facts: dict[str, Any]) -> list[str]:
    """The times that are in no share: one sentence, or none."""
    if not facts["looping_processes"]:
        return []
    parts = {
        "start-up (before the training loop)": facts["startup_ns"],
        "warm-up (imports and compilation in between)": facts["warmup_ns"],
        "end (after it)": facts["end_ns"],
        "gaps between recording windows": facts["not_recorded_ns"],
    }
    named = [f"{name} {units.duration(ns)}" for name, ns in parts.items() if ns]
    processes = facts["looping_processes"]
    whose = f", each added up over {processes:,} processes" if processes > 1 else ""
    return [f"Shares leave out {', '.join(named)}{whose}."] if named else []

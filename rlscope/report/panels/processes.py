"""Who did the work: processes as a tree, and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import processes
from rlscope.report import layers, limits, units, views
from rlscope.report.figures.bars import Bar, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.load import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "process_tree": processes.process_tree(trace, processes=limits.PROCESS_ROWS),
        "role_time": processes.role_time(trace, roles=limits.ROLES),
        "process": processes.process_names(trace),
    }


def draw(tables: Tables) -> Drawing | None:
    rows = tables["process_tree"].to_dicts()
    if not rows:
        return None
    roles = tables["role_time"].to_dicts()
    return Drawing(
        notes=_notes(len(rows), len(tables["process"])),
        charts=[Chart("processes-chart", "Wall time per role, by layer", {"roles": _bars(roles)})]
        if roles
        else [],
        grids=[_grid(rows)],
    )


def _notes(shown: int, there: int) -> list[str]:
    notes = [
        "A role is the name given with rls.process(), else the program's. CPU time counts all "
        "threads of the program without the profiler's own."
    ]
    if shown < there:
        notes.append(
            f"The table shows the {shown:,} longest of {there:,} processes; relation `process` "
            "has them all."
        )
    return notes


def _bars(rows: views.Rows) -> Figure:
    totals = {row["role"]: (row["role_ns"], row["whole_ns"]) for row in rows}
    sizes = {row["role"]: row["processes"] for row in rows}
    bars = [
        Bar(role if sizes[role] == 1 else f"{role} x {sizes[role]}", *total)
        for role, total in totals.items()
    ]
    return stacked_bars(bars, layers.series(rows, "role", list(totals)))


def _grid(rows: views.Rows) -> Grid:
    return Grid(
        title=f"Table: {units.plural(len(rows), 'process')}, children below their parent",
        columns=[
            "process",
            ">pid",
            ">began",
            ">wall",
            ">in operations",
            ">CPU",
            ">profiler CPU",
            ">threads",
            ">events",
            "ended",
            "program",
        ],
        rows=[_row(row) for row in rows],
        open=True,
    )


def _row(row: dict[str, Any]) -> list[str]:
    return [
        "    " * row["depth"] + units.visible(row["name"] or "?"),
        str(row["os_pid"]),
        f"+{units.duration(row['begin_ns'])}",
        units.duration(row["wall_ns"]),
        units.share(row["busy_ns"], row["wall_ns"]),
        units.duration(row["cpu_ns"]),
        units.duration(row["profiler_cpu_ns"]),
        units.count(row["threads"]),
        units.count(row["events"]),
        _ended(row),
        units.label(row["program"] or "", limits.PROGRAM_CHARACTERS),
    ]


_ENDINGS = {
    "exit": "exited",
    "gone": "killed or replaced: seen gone",
    "last_record": "unknown: last record",
    "running": "still running",
}


def _ended(row: dict[str, Any]) -> str:
    if row["exit"] is not None:
        return f"exit {row['exit']}"
    return _ENDINGS.get(row["ended"], str(row["ended"] or "-"))


PANEL = Panel(
    title="Processes",
    question="Which processes and roles did the work?",
    read=read,
    draw=draw,
    empty="No process of this run could be read.",
)

"""Which processes did the work: a tree, and their roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.analysis import processes
from rlscope.report import layers, limits, process_sentences, units, views
from rlscope.report.figures.bars import Bar, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_WHOLE = "the recorded time of all processes except idle helpers, with start-up"

_NOTE = (
    "The name of a process comes from rls.process(), or from what the process does. If names "
    "differ only in their number, the chart has one bar for them. CPU time is that of all threads "
    "of the program, without the profiler's own."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "process_tree": processes.process_tree(trace, processes=limits.PROCESS_ROWS),
        "role_time": processes.role_time(trace, roles=limits.ROLES),
        "process": processes.process_names(trace),
        "helper_total": processes.helper_total(trace),
        "unrecorded_program": processes.unrecorded_programs(trace, programs=limits.ROWS),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["process_tree"].to_dicts()
    if not rows:
        return Nothing("no process of this run could be read.")
    hidden = len(tables["process"]), tables["helper_total"].to_dicts()
    return Drawing(
        notes=[_NOTE, *process_sentences.left_out(len(rows), *hidden)],
        charts=_charts(tables["role_time"].to_dicts()),
        grids=[_grid(rows), *_unrecorded(tables["unrecorded_program"].to_dicts())],
    )


def _unrecorded(rows: views.Rows) -> list[Grid]:
    if not rows:
        return []
    return [
        Grid(
            title="Not recorded: programs of the run, why, and what would record them",
            columns=["program", ">processes", ">ran", ">CPU", "why", "remedy"],
            rows=[
                [
                    units.label(row["program"], limits.PROGRAM_CHARACTERS),
                    units.count(row["processes"]),
                    units.duration(row["ran_ns"]),
                    units.duration(row["cpu_ns"]),
                    units.visible(row["reason"] or "-"),
                    units.visible(row["remedy"] or "-"),
                ]
                for row in rows
            ],
            open=True,
        )
    ]


def _charts(roles: views.Rows) -> list[Chart]:
    """One bar for each role; a single one would show nothing."""
    if len({row["role"] for row in roles}) < 2:
        return []
    title = f"Wall time per role, by layer; shares of {_WHOLE}"
    return [Chart("processes-chart", title, {"roles": _bars(roles)})]


def _bars(rows: views.Rows) -> Figure:
    totals = {row["role"]: (row["role_ns"], row["whole_ns"]) for row in rows}
    sizes = {row["role"]: row["processes"] for row in rows}
    bars = [
        Bar(role if sizes[role] == 1 else f"{role} x {sizes[role]}", *total)
        for role, total in totals.items()
    ]
    return stacked_bars(bars, layers.series(rows, "role", list(totals)), _WHOLE)


def _grid(rows: views.Rows) -> Grid:
    return Grid(
        title=f"Table: {units.plural(len(rows), 'process')}, children below their parent",
        columns=[
            "process",
            "role",
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
        rows=[_row(row, program) for row, program in zip(rows, _programs(rows), strict=True)],
        open=True,
    )


def _programs(rows: views.Rows) -> Iterator[str]:
    """The command line of each process; most forked ones have that of their parent."""
    above: list[str] = []
    for row in rows:
        program = row["program"] or ""
        del above[row["depth"] :]
        is_same = above[-1:] == [program] != [""]
        above.append(program)
        yield "as its parent" if is_same else units.label(program, limits.PROGRAM_CHARACTERS)


def _row(row: dict[str, Any], program: str) -> list[str]:
    return [
        "    " * row["depth"] + units.visible(row["name"] or "?"),
        row["role"] or "-",
        str(row["os_pid"] or "-"),
        f"+{units.duration(row['begin_ns'])}",
        units.duration(row["wall_ns"]),
        units.duration(row["busy_ns"]),
        units.duration(row["cpu_ns"]),
        units.duration(row["profiler_cpu_ns"]),
        units.count(row["threads"]),
        units.count(row["events"]),
        _ended(row),
        program,
    ]


_ENDINGS = {
    "exit": "exited",
    "gone": "killed or replaced, then seen gone",
    "last_record": "unknown, at the last record",
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
)

"""Is the GPU kept busy: operations, by GPU state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import operations, processes
from rlscope.report import limits, palette, units, views
from rlscope.report.figures.bars import Bar, Series, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.load import Trace

_TOTAL = "all operations"


def read(trace: Trace) -> dict[str, Table]:
    return {
        "state_time": operations.state_time(
            trace, operations=limits.OPERATIONS, processes=limits.PROCESSES
        ),
        "process": processes.process_names(trace),
        "absent": operations.gpu_absence(trace),
    }


def draw(tables: Tables) -> Drawing | None:
    groups = views.by_process(tables["state_time"])
    if not groups:
        return None
    figures = {name: _bars(rows) for name, rows in views.named(groups, tables["process"]).items()}
    return Drawing(
        notes=[f"No GPU work in this trace: {reason}" for (reason,) in tables["absent"]],
        charts=[Chart("gpu-chart", "Wall time per operation, by GPU state", figures)],
        grids=[_totals(groups[None])],
    )


def _bars(rows: views.Rows) -> Figure:
    totals = {row["operation"]: (row["operation_ns"], row["group_ns"]) for row in rows}
    cells = {(row["state"], row["operation"]): row["duration_ns"] for row in rows}
    series = [
        Series(
            name=state,
            colour=colour,
            values_ns=[cells.get((state, operation), 0) for operation in totals],
            meaning=palette.STATE_MEANING[state],
        )
        for state, colour in palette.STATES.items()
        if any(each == state for each, _ in cells)
    ]
    return stacked_bars([Bar(name or _TOTAL, *total) for name, total in totals.items()], series)


def _totals(rows: views.Rows) -> Grid:
    return Grid(
        title="Table: totals by GPU state",
        columns=["state", ">time", ">share", "meaning"],
        rows=[
            [
                row["state"],
                units.duration(row["duration_ns"]),
                units.share(row["duration_ns"], row["group_ns"]),
                palette.STATE_MEANING[row["state"]],
            ]
            for row in rows
            if row["operation"] is None
        ],
    )


PANEL = Panel(
    title="GPU state",
    question="Do CPU and GPU work at the same time, and when do both stand still?",
    read=read,
    draw=draw,
    empty="Nothing was recorded: no process of this run has any recorded time.",
)

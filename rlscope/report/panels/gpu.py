"""Is the GPU kept busy: operations, by GPU state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import coverage, cuda, operations, processes
from rlscope.report import limits, palette, shares, units, views
from rlscope.report.figures.bars import Bar, Series, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_TOTAL = "all together"
_WORKED = ("gpu", "cpu+gpu")


def read(trace: Trace) -> dict[str, Table]:
    return {
        "state_time": operations.state_time(
            trace, operations=limits.OPERATIONS, processes=limits.PROCESSES
        ),
        "process": processes.process_names(trace),
        "coverage": coverage.coverage(trace),
        "absent": operations.gpu_absence(trace),
        "no_cuda": cuda.absence(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    groups = views.by_process(tables["state_time"])
    if not any(row["state"] in _WORKED for rows in groups.values() for row in rows):
        return Nothing(_why_nothing(tables))
    (facts,) = tables["coverage"].to_dicts()
    whole = shares.whole_name(facts)
    named = views.named(groups, tables["process"])

    def bars(name: str, time: shares.Time) -> Figure:
        return _bars(named[name], shares.of_view(name, whole), time)

    title = "Wall time per operation, by GPU state"
    figures = shares.both(tables["state_time"], named, bars)
    return Drawing(
        notes=[f"All shares are of {whole}."],
        charts=[Chart("gpu-chart", title, *figures)],
        grids=[_totals(groups[None])],
    )


def _why_nothing(tables: Tables) -> str:
    """One sentence; none where the panel of CUDA has the same one."""
    if len(tables["no_cuda"]):
        return ""
    reasons = [reason for (reason,) in tables["absent"]]
    return f"{'; '.join(reasons) or 'no GPU work was recorded'}."


def _bars(rows: views.Rows, whole: str, time: shares.Time) -> Figure:
    totals = {row["operation"]: (row[time.operation], row[time.group]) for row in rows}
    cells = {(row["state"], row["operation"]): row[time.row] for row in rows}
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
    bars = [Bar(name or _TOTAL, *total) for name, total in totals.items()]
    return stacked_bars(bars, series, whole)


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
            if row["operation"] is None and row["duration_ns"]  # else there when corrected only
        ],
    )


PANEL = Panel(
    title="GPU state",
    question="Do CPU and GPU work at the same time, and when do both stand still?",
    read=read,
    draw=draw,
)

"""How long does an iteration take, does that change, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, iterations, processes, verdicts
from rlscope.report import limits, palette, sentences, units, views
from rlscope.report.figures.lines import Line, Row, lines
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


_EMPTY = (
    "no complete iteration was recorded. Call rls.iteration() at the start of each pass of the "
    "training loop."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "iteration_summary": iterations.iteration_summary(trace, processes=limits.PROCESSES),
        "iteration_series": iterations.iteration_series(
            trace, points=limits.POINTS, processes=limits.PROCESSES
        ),
        "iteration_cost": iterations.iteration_cost(trace, operations=limits.OPERATIONS),
        "process": processes.process_names(trace),
        "absence": coverage.why_absent(trace, "iteration"),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    summaries = {row["process_id"]: row for row in tables["iteration_summary"].to_dicts()}
    if not summaries:
        return Nothing(next((f"{reason}." for (reason,) in tables["absence"]), _EMPTY))
    series = views.by_process(tables["iteration_series"])
    names = views.labels(tables["process"])
    figures = {
        names[process_id]: _figure(series[process_id], summary)
        for process_id, summary in summaries.items()
    }
    return Drawing(
        notes=[sentences.iteration(summary) + _cut(summary) for summary in summaries.values()],
        charts=[Chart("iterations-chart", "Duration of every complete iteration", figures)],
        grids=_grids(tables["iteration_cost"], names),
    )


def _figure(rows: views.Rows, summary: dict[str, Any]) -> Figure:
    top_ns = _top(summary)
    divisor, unit = units.axis_unit(top_ns or summary["max_ns"])
    grouped = any(row["first"] != row["last"] for row in rows)
    band = _band(rows, divisor) if grouped else []
    middle = _medians(rows, divisor, unit) if grouped else _durations(rows, divisor, unit)
    ends = [rows[0]["first"], rows[-1]["last"]]
    levels = [
        Line(name, colour, ends, [summary[column] / divisor] * 2, hover="", dash="dash")
        for name, column, colour in (
            ("median", "median_ns", palette.LAYERS["simulator"]),
            ("p95", "p95_ns", palette.WARNING),
        )
    ]
    row = Row(f"duration ({unit})", [*band, middle, *levels], top_ns and top_ns / divisor)
    return lines([row], "iteration", counted=True)


def _top(summary: dict[str, Any]) -> int | None:
    """Where the axis ends; None: at the longest iteration."""
    flat = verdicts.are_others_flat(summary["max_ns"], summary["p95_ns"])
    return 2 * summary["p95_ns"] if flat else None


def _cut(summary: dict[str, Any]) -> str:
    top_ns = _top(summary)
    if top_ns is None:
        return ""
    end = units.duration(top_ns)
    return f" The chart ends at {end}: double-click it to see the longer ones, too."


def _durations(rows: views.Rows, divisor: int, unit: str) -> Line:
    return Line(
        "duration",
        palette.ACCENT,
        [row["first"] for row in rows],
        [row["median_ns"] / divisor for row in rows],
        f"iteration %{{x}}: %{{y:.4~r}} {unit}",
    )


def _medians(rows: views.Rows, divisor: int, unit: str) -> Line:
    return Line(
        "median of neighbours",
        palette.ACCENT,
        [row["first"] for row in rows],
        [row["median_ns"] / divisor for row in rows],
        f"iterations %{{x}} to %{{customdata[0]}}: median %{{y:.4~r}} {unit}, "
        f"%{{customdata[1]:.4~r}} to %{{customdata[2]:.4~r}} {unit}",
        [[row["last"], row["min_ns"] / divisor, row["max_ns"] / divisor] for row in rows],
    )


def _band(rows: views.Rows, divisor: int) -> list[Line]:
    x = [row["first"] for row in rows]
    low, high = ([row[column] / divisor for row in rows] for column in ("min_ns", "max_ns"))
    return [
        Line("", palette.ACCENT, x, low, hover="", hidden=True),
        Line("shortest to longest", palette.ACCENT, x, high, hover="", band=True),
    ]


def _grids(cost: Table, names: dict[int, str]) -> list[Grid]:
    return [
        Grid(
            title=f"Table: what an iteration of {names[process_id]} costs in each operation",
            columns=["operation", ">entries", ">mean", ">median", ">p95"],
            rows=[_cost_row(row) for row in rows],
        )
        for process_id, rows in views.by_process(cost).items()
        if process_id is not None
    ]


def _cost_row(row: dict[str, Any]) -> list[str]:
    return [
        row["operation"],
        "" if row["per_iteration"] is None else f"{row['per_iteration']:,.1f}",
        units.duration(row["mean_ns"]),
        units.duration(row["median_ns"]),
        units.duration(row["p95_ns"]),
    ]


PANEL = Panel(
    title="Iterations",
    question="How long does a pass of the training loop take, and does it drift?",
    read=read,
    draw=draw,
)

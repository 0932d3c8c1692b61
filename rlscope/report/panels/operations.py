"""Where does the time go: operations, by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import operations, processes
from rlscope.analysis.operations import OUTSIDE
from rlscope.report import layers, limits, palette, units, views
from rlscope.report.figures.bars import Bar, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.load import Trace

INSIDE = "only inside operations"

_LAYER_COLUMNS = {layer: f"{layer}_ns" for layer in palette.LAYERS}


def read(trace: Trace) -> dict[str, Table]:
    return {
        "operation_time": operations.operation_time(
            trace, operations=limits.OPERATIONS, processes=limits.PROCESSES
        ),
        "operation_tree": operations.operation_tree(trace, operations=limits.ROWS),
        "automatic": operations.automatic_operations(trace, operations=limits.ROWS),
        "process": processes.process_names(trace),
    }


def draw(tables: Tables) -> Drawing | None:
    groups = views.by_process(tables["operation_time"])
    if not groups:
        return None
    figures = {name: _bars(rows) for name, rows in views.named(groups, tables["process"]).items()}
    figures = {views.ALL: figures[views.ALL], **_inside(groups[None]), **figures}
    return Drawing(
        notes=[
            "Time belongs to the innermost open operation, and in it to the deepest active layer."
        ],
        charts=[Chart("operations-chart", "Wall time per operation, by layer", figures)],
        grids=[_tree(tables["operation_tree"]), *_automatic(tables["automatic"])],
    )


def _inside(rows: views.Rows) -> dict[str, Figure]:
    """A view of operations alone: imports and the like would else set the scale."""
    inside = [row for row in rows if row["operation"] != OUTSIDE]
    if not inside or len(inside) == len(rows):
        return {}
    return {INSIDE: _bars([{**row, "group_ns": row["inside_ns"]} for row in inside])}


def _bars(rows: views.Rows) -> Figure:
    totals = {row["operation"]: (row["operation_ns"], row["group_ns"]) for row in rows}
    bars = [Bar(name, *total) for name, total in totals.items()]
    return stacked_bars(bars, layers.series(rows, "operation", list(totals)))


def _tree(tree: Table) -> Grid:
    rows = tree.to_dicts()
    present = [name for name, column in _LAYER_COLUMNS.items() if any(tree[column])]
    busy = any(tree["gpu_ns"])
    return Grid(
        title=f"Table: {units.plural(len(rows), 'operation')} as a tree, own time by layer",
        columns=[
            "operation",
            ">total",
            ">share",
            ">own",
            *(f">{layers.label(layer, False)}" for layer in present),
            *([">GPU busy"] if busy else []),
        ],
        rows=[_tree_row(row, present, busy) for row in rows],
    )


def _tree_row(row: dict[str, Any], present: Sequence[str], busy: bool) -> list[str]:
    return [
        "    " * row["depth"] + units.visible(row["name"]),
        units.duration(row["total_ns"]),
        units.share(row["total_ns"], row["whole_ns"]),
        units.duration(row["self_ns"]),
        *(units.duration_or_blank(row[_LAYER_COLUMNS[layer]]) for layer in present),
        *([units.duration_or_blank(row["gpu_ns"])] if busy else []),
    ]


def _automatic(table: Table) -> list[Grid]:
    """Operations that nobody annotated, and how they were found."""
    rows = table.to_dicts()
    if not rows:
        return []
    grid = Grid(
        title=f"Found automatically: {units.plural(len(rows), 'operation')}",
        columns=["operation", ">instances", ">time", ">of the time in operations", "how"],
        rows=[
            [
                units.visible(row["operation"]),
                units.count(row["instances"]),
                units.duration(row["duration_ns"]),
                units.share(row["share"], 1),
                units.visible(row["rule"] or ""),
            ]
            for row in rows
        ],
        open=True,
    )
    return [grid]


PANEL = Panel(
    title="Operations",
    question="Where does the time go?",
    read=read,
    draw=draw,
    empty="Nothing was recorded: no process of this run has any recorded time.",
)

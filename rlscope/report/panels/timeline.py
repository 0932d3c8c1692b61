"""When does the time go: layers and operations over the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import buckets, processes
from rlscope.analysis.operations import NOT_RECORDED
from rlscope.report import limits, palette, units, views
from rlscope.report.figures.timeline import Axis, Track, timeline
from rlscope.report.layers import label, ordered
from rlscope.report.panel import Chart, Drawing, Figure, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_EMPTY = "nothing was recorded, or the program was in one layer and in no operation all the time."


def read(trace: Trace) -> dict[str, Table]:
    return {
        "timeline_layer": buckets.timeline_layer(
            trace, buckets=limits.BUCKETS, processes=limits.TIMELINE_PROCESSES
        ),
        "timeline_operation": buckets.timeline_operation(
            trace,
            buckets=limits.BUCKETS,
            processes=limits.TIMELINE_PROCESSES,
            operations=limits.STRIPS,
        ),
        "process": processes.process_names(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    layers = views.by_process(tables["timeline_layer"])
    operations = views.by_process(tables["timeline_operation"])
    if not _changes(tables):
        return Nothing(_EMPTY)
    figures = {
        name: figure(rows, operations.get(rows[0]["process_id"], []))
        for name, rows in views.named(layers, tables["process"]).items()
    }
    widths = {rows[0]["bucket_ns"] for rows in layers.values()}
    return Drawing(
        notes=[
            "Above are the layers, with the share of time that each took. Below are the "
            "operations; a stronger colour means more time. "
            f"One bucket is {_width(widths)}. Drag to zoom, and double-click to return."
        ],
        charts=[Chart("timeline-chart", "Share of wall time over the run", figures)],
    )


def _changes(tables: Tables) -> bool:
    """Whether anything changes at all."""
    states = set(tables["timeline_layer"].select("layer", "gpu_busy"))
    names = set(tables["timeline_operation"]["operation"])
    return len(states) > 1 or len(names) > 1


def _width(widths: set[int]) -> str:
    shortest, longest = units.duration(min(widths)), units.duration(max(widths))
    return shortest if shortest == longest else f"{shortest} to {longest}"


def figure(layers: views.Rows, operations: views.Rows) -> Figure:
    """The timeline of one process, from its rows of timeline_layer and timeline_operation."""
    first = min(layers, key=lambda row: row["bucket"])
    count = 1 + max(row["bucket"] for row in layers)
    axis = Axis(first["start_ns"], first["bucket_ns"], count)
    return timeline(axis, _areas(layers, count), _strips(operations, count))


def _areas(rows: views.Rows, count: int) -> list[Track]:
    cells: dict[tuple[str, bool], list[int]] = {}
    for row in rows:
        track = cells.setdefault((row["layer"], row["gpu_busy"]), [0] * count)
        track[row["bucket"]] = row["duration_ns"]
    gap = palette.NOT_RECORDED
    return [
        Track(
            name=NOT_RECORDED if layer == NOT_RECORDED else label(layer, busy),
            values_ns=cells[layer, busy],
            colour=gap if layer == NOT_RECORDED else palette.layer_colour(layer),
            hatched=busy,
        )
        for layer, busy in ordered(cells)
    ]


def _strips(rows: views.Rows, count: int) -> list[Track]:
    cells: dict[str, list[int]] = {}
    for row in rows:
        cells.setdefault(row["operation"], [0] * count)[row["bucket"]] = row["duration_ns"]
    return [Track(name=units.visible(name), values_ns=values) for name, values in cells.items()]


PANEL = Panel(
    title="Timeline",
    question="When does the time go?",
    read=read,
    draw=draw,
)

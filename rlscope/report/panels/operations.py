"""Where does the time go: operations, by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, lines, operations, processes
from rlscope.report import (
    layers,
    limits,
    line_sentences,
    loop_sentences,
    palette,
    shares,
    token_sentences,
    units,
    views,
)
from rlscope.report.figures.bars import Bar, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_LAYER_COLUMNS = {layer: f"{layer}_ns" for layer in palette.LAYERS}


def read(trace: Trace) -> dict[str, Table]:
    return {
        "operation_time": operations.operation_time(
            trace, operations=limits.OPERATIONS, processes=limits.PROCESSES
        ),
        "operation_tree": operations.operation_tree(trace, operations=limits.ROWS),
        "between_operation": operations.between_operations(trace, rows=limits.ROWS),
        "between_line": lines.between_lines(trace, rows=limits.ROWS),
        "automatic": operations.automatic_operations(trace, operations=limits.ROWS),
        "process": processes.process_names(trace),
        "generation": operations.generations(trace, rows=limits.PROCESSES),
        "coverage": coverage.coverage(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    groups = views.by_process(tables["operation_time"])
    if not groups:
        return Nothing("no process of this run has any recorded time.")
    (facts,) = tables["coverage"].to_dicts()
    whole = shares.whole_name(facts)
    named = views.named(groups, tables["process"])
    return Drawing(
        notes=[
            "Time counts for the innermost open operation, and in it for the deepest active layer. "
            f"All shares are of {whole}.",
            *shares.left_out(facts),
        ],
        charts=_charts(tables["operation_time"], named, whole),
        grids=[
            _tree(tables["operation_tree"], whole),
            *_pauses(tables["between_operation"], facts),
            *_lines_between(tables["between_line"]),
            *_tokens(tables["generation"]),
            *_automatic(tables["automatic"], facts),
        ],
    )


def _charts(times: Table, named: Mapping[str, views.Rows], whole: str) -> list[Chart]:
    """A single bar of one colour would show nothing."""
    if len(set(times.select("operation", "layer", "gpu_busy"))) < 2:
        return []

    def bars(name: str, time: shares.Time) -> Figure:
        return _bars(named[name], shares.of_view(name, whole), time)

    title = "Wall time per operation, by layer"
    return [Chart("operations-chart", title, *shares.both(times, named, bars))]


def _bars(rows: views.Rows, whole: str, time: shares.Time) -> Figure:
    totals = {row["operation"]: (row[time.operation], row[time.group]) for row in rows}
    bars = [Bar(name, *total) for name, total in totals.items()]
    series = layers.series(rows, "operation", list(totals), time=time.row)
    return stacked_bars(bars, series, whole)


def _tree(tree: Table, whole: str) -> Grid:
    rows = tree.to_dicts()
    present = [name for name, column in _LAYER_COLUMNS.items() if any(tree[column])]
    busy = any(tree["gpu_ns"])
    is_corrected = None not in tree["total_corrected_ns"]
    return Grid(
        title=f"Table: operations as a tree, own time by layer; shares of {whole}",
        columns=[
            "operation",
            ">total",
            ">share",
            *([">without recording"] if is_corrected else []),
            ">own",
            *(f">{layers.label(layer, False)}" for layer in present),
            *([">GPU busy"] if busy else []),
        ],
        rows=[_tree_row(row, present, busy, is_corrected) for row in rows],
    )


def _tree_row(
    row: dict[str, Any], present: Sequence[str], busy: bool, is_corrected: bool
) -> list[str]:
    return [
        "    " * row["depth"] + units.visible(row["name"]),
        units.duration(row["total_ns"]),
        units.share(row["total_ns"], row["whole_ns"]) if row["whole_ns"] else "",
        *([_corrected(row)] if is_corrected else []),
        units.duration(row["self_ns"]),
        *(units.duration_or_blank(row[_LAYER_COLUMNS[layer]]) for layer in present),
        *([units.duration_or_blank(row["gpu_ns"])] if busy else []),
    ]


def _corrected(row: dict[str, Any]) -> str:
    """With its interval, where the digits tell its ends apart."""
    low, mean, high = (
        units.duration(row[f"total_corrected_{end}ns"]) for end in ("low_", "", "high_")
    )
    return mean if low == high else f"{mean} ({low} to {high})"


def _pauses(table: Table, facts: dict[str, Any]) -> list[Grid]:
    """Time between operations, by the operations around it."""
    rows = table.to_dicts()
    if not rows:
        return []
    grid = Grid(
        title="Table: time between operations, by the operations around it",
        columns=["before and after", ">pauses", ">time", ">share", ">mean"],
        rows=[
            [
                loop_sentences.pair(row),
                "" if row["pauses"] is None else units.count(row["pauses"]),
                units.duration(row["duration_ns"]),
                units.share(row["duration_ns"], facts["span_ns"]),
                units.duration(row["duration_ns"] / row["pauses"]) if row["pauses"] else "",
            ]
            for row in rows
        ],
    )
    return [grid]


def _lines_between(table: Table) -> list[Grid]:
    """Lines that lead to time between operations."""
    rows = table.to_dicts()
    if not rows:
        return []
    grid = Grid(
        title="Table: lines that lead to the time between operations, those of libraries too",
        columns=["line", "function", "text", ">time", ">share"],
        rows=[
            [place, units.label(row["function"]), text, units.duration(row["own_ns"]), share]
            for row, (share, place, text) in zip(rows, line_sentences.listed(rows), strict=True)
        ],
    )
    return [grid]


def _tokens(table: Table) -> list[Grid]:
    """What models wrote, by process."""
    rows = table.to_dicts()
    if not rows:
        return []
    columns = ["process", ">tokens", ">generations", ">in each", ">a second, generating"]
    grid = Grid(
        title="Table: tokens that models wrote",
        columns=columns,
        rows=[
            [
                units.visible(row["process"]),
                units.count(row["tokens"]),
                units.count(row["generations"]),
                token_sentences.each(row),
                token_sentences.rate(row),
            ]
            for row in rows
        ],
    )
    return [grid]


def _automatic(table: Table, facts: dict[str, Any]) -> list[Grid]:
    """Operations that rlscope found by itself, and how."""
    rows = table.to_dicts()
    if not rows:
        return []
    grid = Grid(
        title=f"Found automatically: {units.plural(len(rows), 'operation')}",
        columns=["operation", ">instances", ">time", ">share of the loop", "how"],
        rows=[
            [
                units.visible(row["operation"]),
                "" if row["instances"] is None else units.count(row["instances"]),
                units.duration(row["duration_ns"]),
                units.share(row["loop_ns"], facts["span_ns"]) if row["loop_ns"] else "",
                units.visible(row["rule"] or ""),
            ]
            for row in rows
        ],
    )
    return [grid]


PANEL = Panel(
    title="Operations",
    question="Where does the time go?",
    read=read,
    draw=draw,
)

"""Where does the program leave Python: crossings between layers, native calls, how it was seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.analysis import interception, native_calls, transitions
from rlscope.report import layers, limits, sentences, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_EMPTY = (
    "no native call was recorded: no simulator or framework that rlscope knows was imported, or "
    "rls-prof ran with --intercept=off."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "transitions": transitions(trace),
        "native_call_top": native_calls.top_calls(
            trace, functions=limits.FUNCTIONS, operations=limits.OPERATIONS_WITH_FUNCTIONS
        ),
        "native_call_total": native_calls.longest_calls(trace, functions=limits.FUNCTIONS),
        "interception": interception.interception(trace),
        "short_call": native_calls.short_calls(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    if not any(len(table) for name, table in tables.items() if name != "short_call"):
        return Nothing(_EMPTY)
    crossings = tables["transitions"].to_dicts()
    longest = tables["native_call_total"].to_dicts()
    return Drawing(
        notes=[
            *sentences.interception(tables["interception"].to_dicts()),
            *sentences.crossings(crossings),
            *sentences.longest_calls(longest),
            *sentences.short_calls(tables["short_call"].to_dicts()),
        ],
        grids=[*_crossings(crossings), *_calls(tables["native_call_top"].to_dicts())],
    )


def _crossings(rows: list[dict[str, Any]]) -> Iterator[Grid]:
    if not rows:
        return
    shown = rows[: limits.CROSSINGS]
    hidden = (
        f", the {limits.CROSSINGS} most frequent of {len(rows):,}" if len(rows) > len(shown) else ""
    )
    yield Grid(
        title=f"Table: entries into another layer, by operation{hidden}",
        columns=["operation", "from", "into", ">entries in the run", ">in an iteration"],
        rows=[
            [
                units.operation(row["operation"]),
                layers.label(row["from_layer"], False),
                layers.label(row["to_layer"], False),
                units.count(row["count"]),
                units.count(row["per_iteration"]),
            ]
            for row in shown
        ],
        open=True,
    )


def _calls(rows: list[dict[str, Any]]) -> Iterator[Grid]:
    if not rows:
        return
    yield Grid(
        title="Table: the native calls that take most of an operation's time, in all processes",
        columns=[
            "operation",
            "function",
            "layer",
            ">calls",
            ">time",
            ">share",
            ">a call",
            ">without callbacks",
        ],
        rows=[_call(row) for row in rows],
    )


def _call(row: dict[str, Any]) -> list[str]:
    return [
        units.operation(row["operation"]),
        units.visible(row["function"]),
        row["layer"],
        units.count(row["calls"]),
        units.duration(row["duration_ns"]),
        units.share(row["duration_ns"], row["native_ns"]),
        units.duration(row["duration_ns"] / row["calls"]),
        units.duration(row["self_ns"]),
    ]


PANEL = Panel(
    title="Layers",
    question="How often does the program leave Python, and which native calls take the time?",
    read=read,
    draw=draw,
)

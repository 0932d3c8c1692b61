"""Which modules take long to import, and what asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import imports
from rlscope.report import import_sentences, limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_NOTE = (
    "The total of a module includes what it imports; its own time does not. Modules of less than "
    "1 ms are in no row of this table. Processes of one role are one row, with the mean of their "
    "times."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "import_total": imports.totals(trace),
        "import_module": imports.modules(trace, rows=limits.IMPORTS),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["import_module"].to_dicts()
    if not rows:
        return Nothing("rlscope recorded no import of 1 ms or more.")
    return Drawing(
        notes=[_NOTE],
        grids=[_totals(tables["import_total"].to_dicts()), _modules(rows)],
    )


def _totals(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Sums: imports of the processes of each role",
        columns=["role", ">processes", ">modules each", ">time each", ">CPU each"],
        rows=[
            [
                units.visible(row["role"] or "?"),
                units.count(row["processes"]),
                units.count(row["modules"]),
                units.duration(row["wall_ns"]),
                units.duration(row["cpu_ns"]),
            ]
            for row in rows
        ],
        open=True,
    )


def _modules(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Table: the slowest modules of each role, and what asked for them",
        columns=[
            "role",
            "module",
            ">processes",
            ">total",
            ">own",
            ">CPU",
            "imported by",
            "asked by",
        ],
        rows=[
            [
                units.visible(row["role"] or "?"),
                units.label(row["module"]),
                units.count(row["processes"]),
                units.duration(row["total_ns"]),
                units.duration(row["self_ns"]),
                units.duration(row["cpu_ns"]),
                units.label(row["imported_by"] or "-"),
                import_sentences.place(row["asked_by"]) if row["asked_by"] else "-",
            ]
            for row in rows
        ],
    )


PANEL = Panel(
    title="Imports",
    question="Which modules take long to import, and what asks for them?",
    read=read,
    draw=draw,
)

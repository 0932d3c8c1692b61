"""What was compiled: functions, how often and for how long, and the lines that asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import compilations
from rlscope.report import compilation_sentences, limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {"compilation": compilations.compilations(trace, rows=limits.ROWS)}


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["compilation"].to_dicts()
    if not rows:
        return Nothing("no compiler that rlscope watches compiled anything.")
    grid = Grid(
        title=f"Table: {units.plural(rows[0]['functions'], 'function')} that were compiled",
        columns=["function", "compiler", "for", ">times", ">time"],
        rows=[
            [
                units.visible(row["function"]),
                units.visible(row["compiler"]),
                compilation_sentences.place(row),
                f"{row['count']:,}",
                units.duration(row["total_ns"]),
            ]
            for row in rows
        ],
    )
    return Drawing(notes=[_NOTE], grids=[grid])


_NOTE = (
    "A function is compiled again if its arguments have other shapes or types. The line is that of "
    "the program which asked for it. The times are those of tracing and compiling, without other "
    "functions that were compiled meanwhile."
)

PANEL = Panel(
    title="Compilation",
    question="Which functions were compiled, how often, and for which line?",
    read=read,
    draw=draw,
)

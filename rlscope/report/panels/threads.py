"""What other threads did meanwhile: operations of threads that did not own their process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import threads
from rlscope.report import layers, limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {"thread_operation": threads.beside_owner(trace, rows=limits.ROWS)}


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["thread_operation"].to_dicts()
    if not rows:
        return Nothing(_EMPTY)
    grid = Grid(
        title=f"Table: {units.plural(len(rows), 'operation')} of threads",
        columns=["operation", "thread", ">tid", "process", ">time", "mostly in", ">beside"],
        rows=[
            [
                units.operation(row["operation"]),
                units.visible(row["thread"] or "?"),
                str(row["os_tid"]),
                units.visible(row["process"] or "?"),
                units.duration(row["duration_ns"]),
                f"{layers.label(row['layer'], False)} "
                f"{units.share(row['layer_ns'], row['duration_ns'])}",
                units.duration(row["beside_ns"]),
            ]
            for row in rows
        ],
        open=True,
    )
    return Drawing(notes=[_NOTE], grids=[grid])


_EMPTY = "no two threads of a process were in operations at the same time."

_NOTE = (
    "One thread at a time owns a process. That is the main thread while it is in an operation, "
    "else the thread that began its operation first. The other panels show the operations of the "
    "owner. The last column is the time that they do not show, because another thread owned the "
    "process."
)

PANEL = Panel(
    title="Threads",
    question="What did other threads do meanwhile?",
    read=read,
    draw=draw,
)

"""Blocked in native code: time of the loop in which nothing ran and no wait was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import threads
from rlscope.report import limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {"blocked": threads.blocked(trace, rows=limits.ROWS)}


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["blocked"].to_dicts()
    if not rows:
        return Nothing(_EMPTY)
    grid = Grid(
        title="Table: operations that were blocked in native code",
        columns=["operation", ">blocked for about", ">of", ">at least", ">at most", ">readings"],
        rows=[
            [
                units.operation(row["operation"]),
                units.duration(row["blocked_ns"]),
                units.duration(row["operation_ns"]),
                units.duration(row["blocked_low_ns"]),
                units.duration(row["blocked_high_ns"]),
                f"{row['readings']:,}",
            ]
            for row in rows
        ],
    )
    return Drawing(notes=[_NOTE], grids=[grid])


_EMPTY = "no reading found a thread blocked in the training loop without a wait that was recorded."

_NOTE = (
    "rls-prof reads the states of the threads some 100 times a second. Here a thread was blocked, "
    "and no call of the interpreter shows why. It waited in a library's own code: for a queue, a "
    "lock, a file or the library's threads. The times are estimates from the readings, with their "
    "95 % intervals. The times of operations are exact."
)

PANEL = Panel(
    title="Blocked native code",
    question="Where does native code wait?",
    read=read,
    draw=draw,
)

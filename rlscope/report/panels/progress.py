"""How long will the whole run take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import contents, coverage, iterations, verdicts
from rlscope.report import limits, sentences, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_EMPTY = (
    "the program reported no progress. Call rls.progress(done, total), and the page shows how long "
    "the whole run will take."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "extrapolation": iterations.extrapolation(trace, processes=limits.PROCESSES),
        "absence": coverage.why_absent(trace, "progress"),
        "recorded_process": contents.recorded_processes(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["extrapolation"].to_dicts()
    recorded = tables["recorded_process"].to_dicts()
    if not rows and (not recorded or verdicts.is_running(recorded)):
        return Nothing(next((f"{reason}." for (reason,) in tables["absence"]), _EMPTY))
    if not any(verdicts.is_extrapolated(row) for row in rows):
        return Nothing("")
    return Drawing(notes=[sentences.progress(row) for row in rows], grids=[_grid(rows)])


def _grid(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Table: progress reports",
        columns=["process", ">reports", ">done", ">total", ">share", ">elapsed", ">whole run"],
        rows=[
            [
                row["name"] or "?",
                units.count(row["reports"]),
                f"{row['done']:,.6g}",
                f"{row['total']:,.6g}",
                units.share(row["share"], 1),
                units.duration(row["elapsed_ns"]),
                units.duration(row["whole_ns"]),
            ]
            for row in rows
        ],
    )


PANEL = Panel(
    title="Whole run",
    question="How long will the whole run take, if it goes on like this?",
    read=read,
    draw=draw,
)

"""How far can the numbers be trusted: losses, gaps, the profiler's own cost, caveats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, run_facts
from rlscope.report import cluster_sentences, limits, losses, sentences, units
from rlscope.report.panel import Drawing, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "coverage": coverage.coverage(trace),
        "loss_summary": coverage.loss_summary(trace, rows=limits.ROWS),
        "absent": coverage.absent(trace, rows=limits.ROWS),
        "unrecorded_cluster": run_facts.unrecorded_cluster(trace),
    }


def draw(tables: Tables) -> Drawing:
    (facts,) = tables["coverage"].to_dicts()
    lost = tables["loss_summary"].to_dicts()
    return Drawing(
        notes=[
            *cluster_sentences.unrecorded(tables["unrecorded_cluster"].to_dicts()),
            *sentences.coverage(facts),
            _loss_sentence(lost),
        ],
        grids=[*_losses(lost), *_absent(tables["absent"])],
    )


def _loss_sentence(lost: list[dict[str, Any]]) -> str:
    if not lost:
        return "Nothing was lost."
    return f"{units.plural(len(lost), 'kind')} of loss or repair: see the table."


def _losses(lost: list[dict[str, Any]]) -> list[Grid]:
    if not lost:
        return []
    return [
        Grid(
            title="Table: losses",
            columns=["kind", ">count", ">time", ">processes", "meaning", "example"],
            rows=[
                [
                    row["kind"],
                    units.count(row["count"]),
                    units.duration(row["duration_ns"]),
                    units.count(row["processes"]),
                    losses.MEANING.get(row["kind"], ""),
                    row["detail"] or "",
                ]
                for row in lost
            ],
            open=True,
        )
    ]


def _absent(absent: Table) -> list[Grid]:
    if not len(absent):
        return []
    return [
        Grid(
            title=f"Table: {units.plural(len(absent), 'reason')} why a relation or column is empty",
            columns=["relation", "columns", "reason"],
            rows=[[str(cell) for cell in row] for row in absent],
        )
    ]


PANEL = Panel(
    title="Data quality",
    question="How far can these numbers be trusted?",
    read=read,
    draw=draw,
)

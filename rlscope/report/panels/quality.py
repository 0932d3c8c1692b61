"""How far can the numbers be trusted: losses, gaps, the profiler's own cost, caveats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, cuda, gpu_windows, run_facts
from rlscope.report import cluster_sentences, gpu_sentences, limits, losses, sentences, units
from rlscope.report.panel import Drawing, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "coverage": coverage.coverage(trace),
        "loss_summary": coverage.loss_summary(trace, rows=limits.ROWS),
        "cuda_total": cuda.total(trace),
        "gpu_choice": gpu_windows.choices(trace),
        "gpu_window_cost": gpu_windows.window_costs(trace),
        "unrecorded_cluster": run_facts.unrecorded_cluster(trace),
    }


def draw(tables: Tables) -> Drawing:
    (facts,) = tables["coverage"].to_dicts()
    lost = tables["loss_summary"].to_dicts()
    return Drawing(
        notes=[
            *cluster_sentences.unrecorded(tables["unrecorded_cluster"].to_dicts()),
            *sentences.coverage(facts),
            *gpu_sentences.choices(tables["gpu_choice"].to_dicts()),
            *gpu_sentences.cost(
                tables["gpu_window_cost"].to_dicts(), tables["cuda_total"].to_dicts(), facts
            ),
            _loss_sentence(lost),
        ],
        grids=_losses(lost),
    )


def _loss_sentence(lost: list[dict[str, Any]]) -> str:
    if not lost:
        return "Nothing was lost."
    return f"The table has {units.plural(len(lost), 'kind')} of loss or repair."


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


PANEL = Panel(
    title="Data quality",
    question="How far can these numbers be trusted?",
    read=read,
    draw=draw,
)

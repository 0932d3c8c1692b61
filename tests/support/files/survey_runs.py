"""Surveys made by hand, whose numbers can be computed on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.survey.cells import Cell
from rlscope.survey.results import CellResult, Plan, Results
from rlscope.survey.runs import Crossing, Row, Run

PLAN = Plan(repetitions=3, window=10.0, limit=60.0, calibration=0.0, quick=False)
NO_GPU = "there is no CUDA driver"


def row(
    operation: str, layer: str, ns: int, *, corrected_ns: int | None = None, gpu: bool = False
) -> Row:
    """Recorded time; nothing was spent on recording if no other time is given."""
    known = ns if corrected_ns is None else corrected_ns
    return Row(operation, layer, gpu, ns, known, known, known)


def run(
    cell: str, repetition: int, rows: Sequence[Row], *, entries: float = 0.0, **others: Any
) -> Run:
    """Has ten iterations of one step; inference enters a framework `entries` times in each."""
    crossings = [Crossing("inference", "python", "framework", entries)] if entries else []
    facts = {"iterations": 10, "steps": 10, "gpu_absence": NO_GPU, **others}
    return Run(cell, repetition, rows=rows, crossings=crossings, **facts)


def cell(name: str, runs: Sequence[Run], **labels: str) -> CellResult:
    """A cell of the experiments in the label `experiment`, by default framework."""
    experiments = labels.pop("experiment", "framework").split()
    made = Cell(name, f"python {name}.py", tuple(experiments), labels)
    return CellResult(made, runs)


def simulating(name: str, shares: Sequence[int], **labels: str) -> CellResult:
    """A cell that simulates for so many percent of its time, by repetition."""
    runs = [
        run(
            name,
            number,
            [row("simulation", "python", share), row("backprop", "python", 100 - share)],
        )
        for number, share in enumerate(shares, 1)
    ]
    return cell(name, runs, **labels)


def lasting(name: str, times: Sequence[int], labels: Mapping[str, str], **facts: Any) -> CellResult:
    """A cell that takes so many nanoseconds, by repetition."""
    runs = [
        run(name, number, [row("inference", "framework", ns)], **facts)
        for number, ns in enumerate(times, 1)
    ]
    return cell(name, runs, **labels)


def survey(*cells: CellResult, plan: Plan = PLAN) -> Results:
    """All of them."""
    return Results(plan, cells)


EAGER_LABELS = {"algorithm": "PPO", "framework": "PyTorch", "mode": "eager", "environment": "P"}

"""Two sides of runs, number by number: what renderers show and the gate decides by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlscope.analysis import difference_verdicts
from rlscope.compare import environments, iterations, parts, whole
from rlscope.compare.measured import Measured
from rlscope.compare.rows import ITERATION, RUN, STEP, FindingRow, Row, Sides
from rlscope.errors import RlscopeError


@dataclass(frozen=True)
class Comparison:
    """The whole."""

    base: Sequence[Measured]
    new: Sequence[Measured]
    unit: str
    environment: Sequence[environments.Fact]
    """What differs between the sides, or inside of one."""
    warnings: Sequence[str]
    loop: Row
    """Usual time: that of usual entries. Without iterations, all time of the process."""
    mean_loop: Row
    """All time of the loop, with what disturbed it."""
    loop_per_step: Row | None
    """None: a run does not tell its environment steps."""
    cpu: Row | None
    """CPU time of the process over its life; None: not known, or runs differ in length."""
    operations: Sequence[Row]
    layers: Sequence[Row]
    crossings: Sequence[Row]
    lines: Sequence[Row]
    kernels: Sequence[Row]
    findings: Sequence[FindingRow]


def compare(base: Sequence[Measured], new: Sequence[Measured], *, per: str = "") -> Comparison:
    """The comparison of two sides, of one run or more each.

    Args:
        per: ITERATION or STEP; "": environment steps if the iterations of the sides have a
            different number of them, else iterations.

    Raises RlscopeError: `per` is STEP, and a run does not tell its environment steps.
    """
    every = [*base, *new]
    by_iteration = all(each.series for each in every)
    steps = [each.steps for each in every]
    if per == STEP and not (by_iteration and all(steps)):
        raise RlscopeError(
            "a run does not tell its environment steps: they are entries into an operation "
            "such as simulation in complete iterations"
        )
    if not by_iteration:
        unit = RUN
    elif per:
        unit = per
    else:
        equal = not all(steps) or max(steps) <= min(steps) * difference_verdicts.EQUAL_WORK
        unit = ITERATION if equal else STEP
    sides = Sides(base, new, unit, iterations.alike(every))
    return Comparison(
        base, new, unit, environments.differing(base, new), warnings([*base, *new]),
        whole.loop(sides), whole.mean_loop(sides), whole.per_step(sides),
        whole.cpu(sides), parts.operations(sides), parts.layers(sides), parts.crossings(sides),
        parts.lines(sides), parts.kernels(sides), _findings(base, new),
    )  # fmt: skip


def warnings(every: Sequence[Measured]) -> list[str]:
    """What keeps runs from comparing well."""
    found = []
    if len({each.facts.get("program") for each in every}) > 1 and not _same_script(every):
        found.append("These are runs of different programs. They are compared all the same.")
    if len({"imported from" in each.facts for each in every}) > 1:
        found.append(
            "Imported runs are compared with recorded ones: another tool's times hold what "
            "that tool cost, and have other layers."
        )
    if any(not each.iterations for each in every):
        found.append(
            "A run has no complete iteration, so that the processes are compared over their "
            "whole lives. Runs of different length differ by that alone."
        )
    elif any(each.iterations == 1 for each in every):
        found.append("A run has one complete iteration, which says nothing of its noise.")
    return found + [
        f"{each.directory} is not complete: {', '.join(each.losses)}."
        for each in every
        if each.losses
    ]


def _same_script(runs: Sequence[Measured]) -> bool:
    return len({environments.script_of(each.facts.get("program", "")) for each in runs}) == 1


def _findings(base: Sequence[Measured], new: Sequence[Measured]) -> list[FindingRow]:
    """By rule, operation and line: titles have numbers in them."""
    sides = [side_findings(side) for side in (base, new)]
    keys = sorted(
        {*sides[0], *sides[1]},
        key=lambda key: -max(side[key][1] for side in sides if key in side),
    )
    return [
        FindingRow(
            next(side[key][0] for side in reversed(sides) if key in side),
            *(side[key][1] if key in side else None for side in sides),
        )
        for key in keys
    ]


def side_findings(side: Sequence[Measured]) -> dict[tuple[str, ...], tuple[str, float]]:
    """Rule, operation and file -> title and price, of findings that half of the runs have."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in side:
        for row in run.findings:
            key = (row["rule"], row["operation"] or "", row["file"] or "")
            found.setdefault(key, []).append(dict(row))
    return {
        key: (rows[0]["title"], sum(row["saving_share"] or 0.0 for row in rows) / len(rows))
        for key, rows in found.items()
        if 2 * len(rows) >= len(side)
    }

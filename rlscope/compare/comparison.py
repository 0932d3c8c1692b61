"""Two sides of runs, number by number: what renderers show and the gate decides by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlscope.analysis import difference_verdicts
from rlscope.compare import environments, findings, iterations, parts, whole
from rlscope.compare.findings import FindingRow
from rlscope.compare.measured import Measured
from rlscope.compare.rows import ITERATION, RUN, STEP, Row, Sides
from rlscope.compare.sources import Sources
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
    sources: Sources
    sides: Sides

    @property
    def is_of_itself(self) -> bool:
        """Whether both sides are the same runs, or copies of them."""
        base, new = ({identity(run) for run in side} for side in (self.base, self.new))
        return base == new

    @property
    def is_of_one_run_each(self) -> bool:
        """Whether no side says how far runs differ."""
        return len(self.base) == len(self.new) == 1


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
    sources = Sources(base, new)
    said = [*_on_both(base, new), *warnings(every), *sources.warnings()]
    return Comparison(
        base, new, unit, environments.differing(base, new), said,
        whole.loop(sides), whole.mean_loop(sides), whole.per_step(sides),
        whole.cpu(sides), parts.operations(sides), parts.layers(sides), parts.crossings(sides),
        parts.lines(sides, sources), parts.kernels(sides),
        findings.compare(base, new, sources), sources, sides,
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


def identity(run: Measured) -> str:
    """The same for a run and its copies."""
    return run.run_id or str(id(run))


def _on_both(base: Sequence[Measured], new: Sequence[Measured]) -> list[str]:
    """Some runs are on both sides, and not all: they hide what differs."""
    sides = [{identity(run): run.directory for run in side} for side in (base, new)]
    both = sorted(sides[0][each] for each in sides[0].keys() & sides[1].keys())
    if not both or sides[0].keys() == sides[1].keys():
        return []
    return [f"The same run is on both sides: {', '.join(both)}."]


def _same_script(runs: Sequence[Measured]) -> bool:
    return len({environments.script_of(each.facts.get("program", "")) for each in runs}) == 1

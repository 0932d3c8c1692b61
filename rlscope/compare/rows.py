"""Rows of a comparison: one number of both sides, and what can be told of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import differences
from rlscope.compare.differences import Difference, Relative
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Reading
from rlscope.compare.sources import Place

ITERATION, STEP, RUN = "iteration", "environment step", "run"
"""What times are per."""


@dataclass(frozen=True)
class Row:
    """One thing that both sides may have."""

    name: str
    base: float
    """Per unit, the mean of the runs; times are in ns."""
    new: float
    share: float
    """Its part of all such numbers on the larger side: 0 to 1."""
    contribution: float
    """How much of the change of the whole it makes: (new - base) / all of base."""
    difference: Difference | None = None
    """None: some run has none of it, so that no ratio is known."""
    corrected: float | None = None
    """The change of the time without what recording cost. None: no cost is known."""
    relative: Relative | None = None
    """The operation divided by the rest of the loop. None: it cannot be."""
    place: Place | None = None
    """Of a line of the programs."""

    @property
    def only(self) -> str:
        """The side that alone has it: base, new, or "" for both."""
        return "base" if not self.new else "new" if not self.base else ""

    @property
    def verdict(self) -> Verdict:
        """What can be told: of its own time, else of that relative to the rest of the loop."""
        own = self.own_verdict
        return own if own != Verdict.NO_CLEAR_DIFFERENCE else self.relative_verdict

    @property
    def own_verdict(self) -> Verdict:
        """What its own time tells."""
        return self.difference.verdict if self.difference else Verdict.NO_CLEAR_DIFFERENCE

    @property
    def relative_verdict(self) -> Verdict:
        """What it tells relative to the rest of the loop."""
        return self.relative.verdict if self.relative else Verdict.NO_CLEAR_DIFFERENCE


@dataclass(frozen=True)
class Sides:
    """The runs that are compared."""

    base: Sequence[Measured]
    new: Sequence[Measured]
    unit: str
    alike: frozenset[str]
    """Operations of which usual entries are compared."""

    @property
    def every(self) -> list[Measured]:
        return [*self.base, *self.new]

    def factor(self, run: Measured) -> float:
        """What a number per iteration is multiplied by to be per unit."""
        return 1 / run.steps if self.unit == STEP else 1.0

    def units(self, run: Measured) -> float:
        """Units of the whole run."""
        return 1.0 if self.unit == RUN else run.iterations / self.factor(run)

    def row(
        self, name: str, reading: Callable[[Measured], Reading | None], *, doubt: float = 0.0
    ) -> Row:
        """A row of readings per iteration, or per run. A chance of 0 to miss: no interval."""
        found = [
            [_scaled(reading(run), self.factor(run)) for run in side]
            for side in (self.base, self.new)
        ]
        means = [sum(each.value for each in side) / len(side) for side in found]
        known = doubt > 0 and all(each.value > 0 for side in found for each in side)
        difference = differences.compare(*found, doubt=doubt) if known else None
        return Row(name, means[0], means[1], 0.0, 0.0, difference)


def _scaled(reading: Reading | None, factor: float) -> Reading:
    return Reading(0.0) if reading is None else reading.times(factor)

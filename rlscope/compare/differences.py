"""How much a number of some runs differs from that of others, and whether that can be told.

Numbers differ from run to run, and inside of a run from one block of iterations to the next. What
runs differ by holds the inside of runs, too: a hierarchical bootstrap draws runs, and its variance
is known without drawing, because the statistic is a sum of logarithms. A test draws, and compares
(tests/unit/test_differences.py). Few runs may agree by chance, so that the blocks inside of them
bound the variance from below. One run a side has no upper level: the drift that its quarters show
takes its place.

docs/reference/semantics.md, "Comparing runs".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rlscope import student
from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import trimmed
from rlscope.compare.readings import QUARTERS, Reading

_LARGEST = 700.0
"""The largest logarithm of which there is a number."""
_LEAST_RUN_ERROR = 0.015
"""Runs differ by so much even if nothing drifts in them: their memory lies elsewhere, and their
neighbours on the machine are others (docs/reference/differences.md)."""
_LEAST_RELATIVE_ERROR = 0.01
"""The same of an operation relative to others of its run, which have most of that in common."""
_KNOWN_FREEDOM = 60
"""Degrees of freedom of that: it comes from many runs of other programs."""
_DRIFT_FREEDOM = 4
"""Degrees of freedom of a variance that comes from drift: that of some quarters of some runs."""
_OFTEN = 0.9
"""How often a difference that could have been told would have been."""
_MOST_RUNS = 200


@dataclass(frozen=True)
class Difference:
    """The new number over the base's: logarithms, so that a ratio and its inverse say the same."""

    base: float
    new: float
    """Geometric means over the runs, trimmed of 5 and more."""
    log_ratio: float
    error: float
    """Standard error of log_ratio. Infinite: nothing says how far runs differ."""
    freedom: int
    """Degrees of freedom of the error."""
    doubt: float
    """Chance that the interval, for which chance of the whole comparison, does not hold it."""
    runs: tuple[int, int]
    drift: float | None
    """By how much, as a share, two runs of one program would differ by the drift alone, at the end
    of the interval. None: not known."""

    @property
    def reach(self) -> float:
        """Half the width of the interval, of logarithms."""
        if math.isinf(self.error):
            return math.inf
        return self.error * student.quantile(1 - self.doubt / 2, self.freedom)

    @property
    def change(self) -> float:
        """0.05: 5 % more than the base."""
        return _share(self.log_ratio)

    @property
    def low(self) -> float:
        """The lower end of the interval of `change`."""
        return _share(self.log_ratio - self.reach)

    @property
    def high(self) -> float:
        """The upper end."""
        return _share(self.log_ratio + self.reach)

    @property
    def could_tell(self) -> float:
        """The smallest slow-down that 9 of 10 such comparisons tell."""
        if math.isinf(self.error):
            return math.inf
        return _share(self.reach + self.error * student.quantile(_OFTEN, self.freedom))

    @property
    def verdict(self) -> Verdict:
        """What can be told."""
        return difference_verdicts.of_interval(self.low, self.high)

    def runs_to_tell(self, limit: float) -> int | None:
        """How many more runs of each side bring the interval's half width to a share `limit`. None:
        not within _MOST_RUNS, or nothing says how far runs differ."""
        if math.isinf(self.error):
            return None
        fewer = min(self.runs)
        one_run2 = self.error**2 / sum(1 / each for each in self.runs)
        known = self.freedom - (sum(self.runs) - 2)
        for runs in range(fewer + 1, _MOST_RUNS + 1):
            t = student.quantile(1 - self.doubt / 2, max(known + 2 * runs - 2, 1))
            if t * math.sqrt(2 * one_run2 / runs) <= math.log1p(limit):
                return runs - fewer
        return None


@dataclass(frozen=True)
class Relative:
    """An operation's time divided by that of the rest of its loop."""

    difference: Difference
    is_changed: bool
    """Whether it is this operation that changed, and not the rest of the loop."""

    @property
    def verdict(self) -> Verdict:
        """What can be told of the operation."""
        return self.difference.verdict if self.is_changed else Verdict.NO_CLEAR_DIFFERENCE


def compare(base: Sequence[Reading], new: Sequence[Reading], *, doubt: float) -> Difference:
    """The difference of two sides, each the same number of its runs, above 0.

    Args:
        doubt: the chance that the interval may miss.

    Raises ValueError: a side has no runs, or a number is not above 0.
    """
    drift2, alone2 = _drift2(base, new), _alone2(base, new)
    shown = None
    if drift2 is not None:
        shown2 = max(drift2, _within2(base, new) or 0.0, _LEAST_RUN_ERROR**2)
        shown = _Shown(shown2, max(shown2, alone2), _DRIFT_FREEDOM)
    return _compared(base, new, doubt, shown, drift=_drift(drift2, alone2, doubt))


def compare_relative(
    base: Sequence[Reading], new: Sequence[Reading], *, doubt: float, apart: float
) -> Difference:
    """The same of numbers that are divided by others of their run, as a machine slows both alike.

    Args:
        apart: standard error of the difference that comes from a machine that did not slow them
            alike. More runs do not make it smaller.
    """
    shown = None
    if (drift2 := _drift2(base, new)) is not None:
        within2, known2 = _within2(base, new) or 0.0, _LEAST_RELATIVE_ERROR**2
        alone2 = max(drift2, within2)  # nothing else says how far runs differ
        shown = _Shown(
            _inside2(drift2, within2) + known2, alone2 + known2, _freedom(alone2, known2)
        )
    return _compared(base, new, doubt, shown, apart2=apart**2)


def _inside2(drift2: float, within2: float) -> float:
    """Quarters differ by their noise, too, which is that of the whole run times their number."""
    return within2 + max(0.0, drift2 - QUARTERS * within2)


def _freedom(inside2: float, known2: float) -> int:
    """Degrees of freedom of the sum of two variances, by Welch and Satterthwaite."""
    weighed = inside2**2 / _DRIFT_FREEDOM + known2**2 / _KNOWN_FREEDOM
    return max(_DRIFT_FREEDOM, int((inside2 + known2) ** 2 / weighed))


@dataclass(frozen=True)
class _Shown:
    """What the inside of runs says of the variance of one run's number."""

    run2: float
    alone2: float
    """The same where there is one run of each side."""
    alone_freedom: int


def _compared(
    base: Sequence[Reading],
    new: Sequence[Reading],
    doubt: float,
    shown: _Shown | None,
    *,
    apart2: float = 0.0,
    drift: float | None = None,
) -> Difference:
    """Both sides, with a variance of their difference that more runs do not make smaller."""
    if not base or not new or min(each.value for each in (*base, *new)) <= 0:
        raise ValueError("numbers above 0 are compared, of one run a side or more")
    sides = [trimmed.of([math.log(each.value) for each in side]) for side in (base, new)]
    means = [each.mean for each in sides]
    freedom = sum(each.freedom for each in sides)
    between2 = sum(each.freedom * each.one2 for each in sides) / freedom if freedom else None
    one_run2, freedom = _one_run2(between2, freedom, _within2(base, new), shown)
    error = math.sqrt(one_run2 * (1 / len(base) + 1 / len(new)) + apart2)
    return Difference(
        _exponential(means[0]), _exponential(means[1]), means[1] - means[0], error, freedom, doubt,
        (len(base), len(new)), drift,
    )  # fmt: skip


def _drift2(base: Sequence[Reading], new: Sequence[Reading]) -> float | None:
    return _known_median([each.drift2 for each in (*base, *new)])


def _alone2(base: Sequence[Reading], new: Sequence[Reading]) -> float:
    return _known_median([each.alone2 for each in (*base, *new)]) or 0.0


def _within2(base: Sequence[Reading], new: Sequence[Reading]) -> float | None:
    return _known_median([each.error2 for each in (*base, *new)])


def _known_median(values: Sequence[float | None]) -> float | None:
    """One run that was disturbed more than the others says nothing of those."""
    known = [each for each in values if each is not None]
    return statistics.median(known) if known else None


def _one_run2(
    between2: float | None, freedom: int, within2: float | None, shown: _Shown | None
) -> tuple[float, int]:
    """The variance of one run's number, and its degrees of freedom.

    Few runs say little of how they differ, so what their iterations show counts as some runs more.
    It never makes the variance smaller than that between the runs, which then speaks alone.
    """
    if shown is None:
        return (math.inf, 1) if between2 is None else (max(between2, within2 or 0.0), freedom)
    if between2 is None:
        return shown.alone2, shown.alone_freedom
    together = freedom + _DRIFT_FREEDOM
    mixed = (_DRIFT_FREEDOM * shown.run2 + freedom * between2) / together
    return (between2, freedom) if between2 > mixed else (mixed, together)


def _drift(drift2: float | None, alone2: float, doubt: float) -> float | None:
    if drift2 is None:
        return None
    t = student.quantile(1 - doubt / 2, _DRIFT_FREEDOM)
    return _share(t * math.sqrt(2 * max(drift2, alone2)))


def _share(logarithm: float) -> float:
    return _exponential(logarithm) - 1


def _exponential(logarithm: float) -> float:
    return math.exp(min(logarithm, _LARGEST))

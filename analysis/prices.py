"""What mending a finding is worth: time of a training loop, with its 95 % interval.

    removable = prices.of_spread(spread(trace, loop, operation="inference"))
    removable.part(0.4, 0.5, 0.6)      half of it, give or take
    removable.less(prices.exact(cost)) without what the mended program pays instead

Sums and differences of independent prices have the interval of Zou and Donner, "Construction of
confidence limits about effect measures" (2008), as the hottest lines have.
docs/reference/semantics.md, "Prices".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlscope import student

# Iterations, or readings, of which a spread says something.
_FEWEST = 3
# The rest of a loop gets quicker by so much of what a price has beyond this share, and by its share
# to the power of 1.5 at most.
_OF_REST, _LARGE = 0.6, 0.3


@dataclass(frozen=True)
class Price:
    """Time that can be won back, in ns, and the ends of its 95 % interval."""

    saving_ns: float
    low_ns: float
    high_ns: float

    def part(self, low: float, value: float, high: float) -> Price:
        """A part of it, which is itself known with an interval."""
        return Price(self.saving_ns * value, self.low_ns * low, self.high_ns * high)

    def times(self, factor: float) -> Price:
        """So many of it, or such a part."""
        return self.part(factor, factor, factor)

    def less(self, cost: Price) -> Price:
        """Without what has to be paid instead."""
        below = math.hypot(self.saving_ns - self.low_ns, cost.high_ns - cost.saving_ns)
        above = math.hypot(self.high_ns - self.saving_ns, cost.saving_ns - cost.low_ns)
        return _around(self.saving_ns - cost.saving_ns, below, above)

    def plus(self, other: Price) -> Price:
        """Both together."""
        below = math.hypot(self.saving_ns - self.low_ns, other.saving_ns - other.low_ns)
        above = math.hypot(self.high_ns - self.saving_ns, other.high_ns - other.saving_ns)
        return _around(self.saving_ns + other.saving_ns, below, above)

    def widened(self, part: float) -> Price:
        """With ends that are at least such a part of it away from it."""
        most_ns, least_ns = (1 + part) * self.saving_ns, (1 - part) * self.saving_ns
        return Price(self.saving_ns, min(self.low_ns, least_ns), max(self.high_ns, most_ns))

    def with_rest(self, whole_ns: float) -> Price:
        """With what the rest of a loop gets quicker by once this is gone."""
        part, most = (max(each, 0) / whole_ns for each in (self.saving_ns, self.high_ns))
        beyond = max(part - _LARGE, 0)
        saving_ns = self.saving_ns + _OF_REST * beyond * (whole_ns - self.saving_ns)
        high_ns = self.high_ns + most**1.5 * (whole_ns - self.high_ns)
        return Price(saving_ns, self.low_ns, high_ns)

    def at_least(self, least_ns: float) -> Price:
        """No less than so much."""
        return Price(*(max(each, least_ns) for each in (self.saving_ns, self.low_ns, self.high_ns)))

    def within(self, most_ns: float) -> Price:
        """At most so much."""
        return Price(*(min(each, most_ns) for each in (self.saving_ns, self.low_ns, self.high_ns)))


def is_with_rest(share: float) -> bool:
    """Whether a price of such a share of the loop has some of what the rest gains."""
    return share > _LARGE


def _around(saving_ns: float, below_ns: float, above_ns: float) -> Price:
    return Price(saving_ns, saving_ns - below_ns, saving_ns + above_ns)


def exact(duration_ns: float) -> Price:
    """A time that was measured, not estimated."""
    return Price(duration_ns, duration_ns, duration_ns)


def of_estimate(row: Mapping[str, Any], name: str = "own") -> Price:
    """`own_ns`, `own_low_ns` and `own_high_ns` of a row."""
    return Price(row[f"{name}_ns"], row[f"{name}_low_ns"], row[f"{name}_high_ns"])


def of_spread(row: Mapping[str, Any]) -> Price:
    """The sum of something that each iteration pays, from a row of `iteration_spread`: its interval
    is that of a mean of so many iterations. Of a few iterations nothing is known: from 0."""
    iterations, mean_ns = row["iterations"] or 0, row["mean_ns"] or 0.0
    total_ns = iterations * mean_ns
    if iterations < _FEWEST:
        return Price(total_ns, 0.0, total_ns)
    half_ns = student.half_width(iterations - 1) * row["deviation_ns"] * math.sqrt(iterations)
    return _around(total_ns, half_ns, half_ns)


def of_ratios(logarithms: Sequence[float]) -> Price:
    """The geometric mean of two ratios or more, from their logarithms, with its interval."""
    mean, deviation = statistics.mean(logarithms), statistics.stdev(logarithms)
    half = student.half_width(len(logarithms) - 1) * deviation / math.sqrt(len(logarithms))
    return Price(math.exp(mean), math.exp(mean - half), math.exp(mean + half))

"""The mean of numbers of which neighbours of the machine may have disturbed some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARE = 0.2
"""Part of the numbers left out at either end."""


@dataclass(frozen=True)
class TrimmedMean:
    """A trimmed mean, with the variance of Tukey and McLaughlin."""

    mean: float
    one2: float
    """Variance of one number; the mean's is that divided by how many there are."""
    freedom: int


def of(values: Sequence[float]) -> TrimmedMean:
    """The mean of the middle three fifths; of all of fewer than five.

    Raises ValueError: there are none.
    """
    if not values:
        raise ValueError("no numbers")
    ordered = sorted(values)
    out = int(len(ordered) * SHARE)
    kept = ordered[out : len(ordered) - out]
    winsorized = [kept[0]] * out + kept + [kept[-1]] * out
    freedom = len(kept) - 1
    spread2 = float(np.var(winsorized, ddof=1)) if freedom else 0.0
    kept_part = 1 - 2 * out / len(ordered)
    return TrimmedMean(math.fsum(kept) / len(kept), spread2 / kept_part**2, freedom)

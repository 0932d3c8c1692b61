"""Quantiles of Student's t distribution: how far an interval reaches, in standard errors."""

from __future__ import annotations

import math
from functools import cache

_STEPS = 80  # halvings: the last one is below the resolution of a float
_MOST = 1_000  # degrees of freedom: with more, a quantile differs by less than 0.2 %


def half_width(freedom: int) -> float:
    """Standard errors on either side of a mean in its interval of 95 %."""
    return quantile(0.975, freedom)


@cache
def quantile(chance: float, freedom: int) -> float:
    """The t that a value of so many degrees of freedom stays below with this chance.

    >>> round(quantile(0.975, 1), 2), round(quantile(0.975, 18), 3), round(quantile(0.5, 3), 3)
    (12.71, 2.101, 0.0)

    Raises ValueError: the chance is not between 0 and 1, or there are no degrees of freedom.
    """
    if not 0 < chance < 1 or freedom < 1:
        raise ValueError(f"no quantile of Student's t at {chance} with {freedom}")
    if freedom > _MOST:
        return quantile(chance, _MOST)
    if chance < 0.5:
        return -quantile(1 - chance, freedom)
    low, high = 0.0, math.pi / 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < chance else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def below(t: float, freedom: int) -> float:
    """The chance that a value of so many degrees of freedom is below t."""
    return _below(math.atan(t / math.sqrt(freedom)), freedom)


def _below(angle: float, freedom: int) -> float:
    """The same of t = sqrt(freedom) * tan(angle): Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for power in range(3 if freedom % 2 else 2, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (power - 1) / power
    inside = 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total
    return (1 + inside) / 2

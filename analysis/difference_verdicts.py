"""What decides between the words of a comparison of runs: docs/reference/semantics.md, "Comparing
runs"."""

from __future__ import annotations

from enum import Enum

LOOP_DOUBT = 0.01
"""Chance that the interval of a loop misses."""
PARTS_DOUBT = 0.01
"""Chance that any interval of the parts of a loop misses: each has a part of it by its time."""
RELATIVE_DOUBT = 0.01
"""The same of operations relative to the rest of the loop."""
RELATIVE_SHARE = 0.02
"""Part of the loop from which on an operation is compared with the rest, and is part of it."""
COMPUTING_SHARE = 0.8
"""Part of such an operation's time in which it computes, and does not wait."""
GATED_SHARE = 0.05
"""Part of the loop from which on an operation's slow-down alone fails a gate."""

DISTURBANCE_SPREAD = 0.25
"""How much the means of runs differ, as a part of what disturbs them."""
EQUAL_WORK = 1.01
"""Iterations with up to so many times as many environment steps are equal work, and so are runs
with up to so many times as many iterations."""

_USUAL_PART = 0.8
"""Part of an operation's time that as many usual entries take, if its entries are alike."""

SAME_SHARE = 0.05
"""Change of a call's own time up to which a flame graph shows it as the same."""
MUCH_SHARE = 0.25
"""From which on it shows much of a change."""


class Verdict(Enum):
    """What an interval tells."""

    SLOWER = "slower"
    FASTER = "faster"
    NO_CLEAR_DIFFERENCE = "no clear difference"


def of_interval(low: float, high: float) -> Verdict:
    """What the interval of a change tells: 0.05 is 5 % more."""
    if low > 0:
        return Verdict.SLOWER
    return Verdict.FASTER if high < 0 else Verdict.NO_CLEAR_DIFFERENCE


def are_entries_alike(part: float) -> bool:
    """Whether an operation takes about as long as if each of its entries were a usual one. Else it
    has entries of several kinds, or most of them are disturbed."""
    return part >= _USUAL_PART


class Gated(Enum):
    """What a gate says."""

    PASSES = "passes"
    FAILS = "fails"
    CANNOT_TELL = "cannot tell"


def of_gate(change: float, low: float, high: float, reach: float, limit: float) -> Gated:
    """What a gate says of a change with its interval, all of them shares.

    Args:
        reach: half the width of the interval.
        limit: by how much it may be slower.
    """
    if low > 0 and change >= limit:
        return Gated.FAILS
    if high < limit or (reach <= limit and change < limit):
        return Gated.PASSES
    return Gated.CANNOT_TELL

"""The rows of the relation `blocked`: exact times of states, and how much of them was blocked by
readings of the threads' states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

_Z = 1.96  # of a 95 % interval
_COLUMNS = ("stage", "operation", "layer", "duration_ns", "readings", "blocked", "blocked_ns",
            "blocked_low_ns", "blocked_high_ns")  # fmt: skip


def columns(breakdown: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Every state of `breakdown` by stage, operation and layer; none if nothing was read.

    Args:
        breakdown: as the sweep has it.
        read: `state_reading`, as the sweep has it: by stack, too.
    """
    counts: Counter[tuple[Any, ...]] = Counter()
    asleep: Counter[tuple[Any, ...]] = Counter()
    for *key, readings, blocked in state_rows(read, "readings", "blocked"):
        counts[tuple(key)] += readings
        asleep[tuple(key)] += blocked
    rows = []
    times = state_times(breakdown, "duration_ns") if counts else {}
    for state, duration_ns in times.items():
        readings, blocked = counts[state], asleep[state]
        rows.append(
            (*state, duration_ns, readings, blocked, *share(duration_ns, readings, blocked))
        )
    return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}


def share(duration_ns: int, readings: int, blocked: int) -> tuple[int | None, ...]:
    """The part of a time in the proportion of some readings, and its 95 % interval: Wilson's with a
    correction for continuity, for readings that are independent of each other (Newcombe, "Two-sided
    confidence intervals for the single proportion", 1998, method 4).

    >>> share(1000, 100, 50)
    (500, 399, 601)
    >>> share(1000, 100, 0)
    (0, 0, 46)
    >>> share(1000, 100, 100)
    (1000, 954, 1000)
    >>> share(1000, 0, 0)
    (None, None, None)
    """
    if not readings:
        return None, None, None
    part = blocked / readings
    high = _upper_end(readings, part)
    low = 1.0 - _upper_end(readings, 1.0 - part)
    return tuple(round(duration_ns * each) for each in (part, low, high))


def _upper_end(readings: int, part: float) -> float:
    if part == 1.0:
        return 1.0
    square = _Z * _Z
    root = square + 2 - 1 / readings + 4 * part * (readings * (1.0 - part) - 1)
    end = (2 * readings * part + square + 1 + _Z * math.sqrt(root)) / (2 * (readings + square))
    return min(end, 1.0)


def state_times(breakdown: Mapping[str, Any], column: str) -> Counter[tuple[Any, ...]]:
    """The time in a column of each stage, operation and layer."""
    times: Counter[tuple[Any, ...]] = Counter()
    for *key, time_ns in state_rows(breakdown, column):
        times[tuple(key)] += time_ns
    return times


def state_rows(table: Mapping[str, Any], *values: str) -> list[tuple[Any, ...]]:
    """Rows of stage, operation, layer and those columns."""
    names = ("stage", "operation", "layer", *values)
    lists = (as_list(table[name]) for name in names)
    return list(zip(*lists, strict=True))


def as_list(values: Any) -> list[Any]:
    """A column of the sweep as values of Python."""
    return values.tolist() if hasattr(values, "tolist") else list(values)

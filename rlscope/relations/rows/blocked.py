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
        read: `state_reading`, as the sweep has it.
    """
    counts: dict[Any, tuple[Any, ...]] = {
        row[:3]: row[3:] for row in _rows(read, "readings", "blocked")
    }
    times: Counter[tuple[Any, ...]] = Counter()
    for *key, duration_ns in _rows(breakdown, "duration_ns") if counts else ():
        times[tuple(key)] += duration_ns
    rows = []
    for state, duration_ns in times.items():
        readings, blocked = counts.get(state, (0, 0))
        rows.append(
            (*state, duration_ns, readings, blocked, *share(duration_ns, readings, blocked))
        )
    return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}


def share(duration_ns: int, readings: int, blocked: int) -> tuple[int | None, ...]:
    """The part of a time in the proportion of some readings, and its 95 % interval (Wilson's, for
    readings that are independent of each other).

    >>> share(1000, 100, 50)
    (500, 404, 596)
    >>> share(1000, 100, 0)
    (0, 0, 37)
    >>> share(1000, 0, 0)
    (None, None, None)
    """
    if not readings:
        return None, None, None
    square = _Z * _Z
    middle = blocked + square / 2
    half = _Z * math.sqrt(blocked * (readings - blocked) / readings + square / 4)
    low, high = ((middle + side * half) / (readings + square) for side in (-1, 1))
    parts = (blocked / readings, max(low, 0.0), min(high, 1.0))
    return tuple(round(duration_ns * part) for part in parts)


def _rows(table: Mapping[str, Any], *values: str) -> list[tuple[Any, ...]]:
    names = ("stage", "operation", "layer", *values)
    lists = (_list(table[name]) for name in names)
    return list(zip(*lists, strict=True))


def _list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)

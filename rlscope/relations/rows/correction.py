"""Takes the records' own cost out of the breakdowns (semantics.md, "Corrected time").

rows of a breakdown ---+
records by row --------+-- correct() -> overhead_ns, corrected_ns, its interval, by row
costs by kind ---------+            -> the relation `overhead`
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlscope.costs.record_costs import Calibration

CLAMPED = "clamped"
"""Kind of overhead that a row has no time for."""

_SIDES = ("inside", "outside")
# Ends of the costs, and of the corrected time that they lead to.
_ENDS = {"mean": "corrected_ns", "high": "corrected_low_ns", "low": "corrected_high_ns"}

COLUMNS = ("overhead_ns", *_ENDS.values())
"""Columns that a correction adds to a breakdown."""

Place = tuple[Any, ...]
"""A row without its times; layer and gpu_busy are the last two columns."""


@dataclass
class Corrected:
    """A breakdown with its overhead."""

    columns: dict[str, list[Any]]
    """Those that were given, overhead_ns and the corrected times. Rows of no layer may have been
    added: overhead beside GPU work moves there."""
    overhead: dict[str, list[Any]]
    """Columns of the places, kind, count, outside, overhead_ns."""


@dataclass
class _Row:
    """Estimates of one place, by end of the costs."""

    kinds: dict[str, tuple[int, int, int | None]] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_ENDS, 0))


def correct(
    times: Mapping[str, Sequence[Any]],
    records: Mapping[str, Sequence[Any]],
    calibration: Calibration,
    *,
    place: Sequence[str],
    no_layer: Any,
) -> Corrected:
    """Corrects the rows of one process, or of its threads.

    Args:
        times: columns `place`, duration_ns and count of a breakdown.
        records: columns `place`, kind, inside, outside.
        place: columns that tell rows apart; layer and gpu_busy come last.
        no_layer: the value of column layer without a layer.
    """
    estimates = _estimate(records, calibration, place)
    rows = dict(zip(_places(times, place), map(int, times["duration_ns"]), strict=True))
    counts = dict(zip(rows, map(int, times["count"]), strict=True))
    taken = {end: _take(rows, estimates, end, no_layer) for end in _ENDS}
    for moved in taken.values():
        for target in moved.added:
            rows.setdefault(target, 0)
    columns = _columns(place, rows)
    columns["duration_ns"] = [*rows.values()]
    columns["count"] = [counts.get(each, 0) for each in rows]
    columns["overhead_ns"] = [taken["mean"].removed.get(each, 0) for each in rows]
    for end, name in _ENDS.items():
        moved = taken[end]
        columns[name] = [
            duration_ns - moved.removed.get(each, 0) + moved.added.get(each, 0)
            for each, duration_ns in rows.items()
        ]
    return Corrected(columns, _overhead(estimates, taken["mean"].removed, place))


@dataclass
class _Taken:
    removed: dict[Place, int] = field(default_factory=dict)
    """From a row."""
    added: dict[Place, int] = field(default_factory=lambda: defaultdict(int))
    """To a row of GPU work alone."""


def _take(
    rows: Mapping[Place, int], estimates: Mapping[Place, _Row], end: str, no_layer: Any
) -> _Taken:
    """No row falls below zero. Time of the GPU alone has no overhead of a CPU, and never moves."""
    taken = _Taken()
    for place, duration_ns in rows.items():
        if place not in estimates:
            continue
        *of_operation, layer, gpu_busy = place
        estimate_ns = estimates[place].total[end]
        if gpu_busy and layer == no_layer:
            continue
        least = 0 if gpu_busy else estimate_ns
        removed = min(max(estimate_ns, least), duration_ns)
        taken.removed[place] = removed
        if gpu_busy and removed:
            target = (*of_operation, no_layer, gpu_busy)
            taken.added[target] += removed
    return taken


def _estimate(
    records: Mapping[str, Sequence[Any]], calibration: Calibration, place: Sequence[str]
) -> dict[Place, _Row]:
    estimates: dict[Place, _Row] = defaultdict(_Row)
    sides = zip(records["kind"], *(map(int, records[side]) for side in _SIDES), strict=True)
    for where, (kind, *counts) in zip(_places(records, place), sides, strict=True):
        row, cost = estimates[where], calibration.get(kind)
        if cost is None:
            row.kinds[kind] = (counts[0], counts[1], None)
            continue
        for end in _ENDS:
            exact = sum(n * cost.at(end, side) for n, side in zip(counts, _SIDES, strict=True))
            row.total[end] += math.floor(exact + 0.5)
            if end == "mean":
                row.kinds[kind] = (counts[0], counts[1], math.floor(exact + 0.5))
    return estimates


def _overhead(
    estimates: Mapping[Place, _Row], removed: Mapping[Place, int], place: Sequence[str]
) -> dict[str, list[Any]]:
    """Rows by place and kind; what a row had no time for is taken back by one of its own."""
    found: list[tuple[Any, ...]] = []
    for where, row in estimates.items():
        found += [(*where, kind, *values) for kind, values in row.kinds.items()]
        cut_ns = row.total["mean"] - removed.get(where, 0)
        if cut_ns:
            found.append((*where, CLAMPED, 0, 0, -cut_ns))
    return _columns((*place, "kind", "count", "outside", "overhead_ns"), found)


def added_up(overhead: Mapping[str, Sequence[Any]], by: Sequence[str]) -> dict[str, list[Any]]:
    """Rows of `Corrected.overhead`, added up over the columns that `by` does not name."""
    sums: dict[Place, list[Any]] = {}
    added = zip(*(overhead[name] for name in ("count", "outside", "overhead_ns")), strict=True)
    for where, values in zip(_places(overhead, by), added, strict=True):
        sums[where] = [
            None if before is None or value is None else before + value
            for before, value in zip(sums.get(where, [0, 0, 0]), values, strict=True)
        ]
    rows = [(*where, *values) for where, values in sums.items()]
    return _columns((*by, "count", "outside", "overhead_ns"), rows)


def _columns(names: Sequence[str], rows: Iterable[Place]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns


def _places(columns: Mapping[str, Sequence[Any]], place: Sequence[str]) -> list[Place]:
    values = (np.asarray(columns[name]).tolist() for name in place)
    return list(zip(*values, strict=True))

"""What an iteration of one run takes in some states: the mean one, or usual entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median

import numpy as np

from rlscope.analysis import difference_verdicts
from rlscope.analysis.operations import NOT_RECORDED
from rlscope.compare import readings
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Reading, Values
from rlscope.compare.rows import ITERATION, RUN


def _series_of(run: Measured, of: Callable[[str, str], bool]) -> Values:
    chosen = [values for state, values in run.series.items() if of(*state)]
    return np.sum(chosen, axis=0) if chosen else np.zeros(0)


def mean_reading(run: Measured, of: Callable[[str, str], bool], unit: str) -> Reading | None:
    """The mean time of an iteration in some states; of a run as a whole the time in them."""
    if unit == RUN:
        total = sum(ns for state, ns in run.states.items() if of(*state))
        return Reading(float(total)) if total else None
    series = _series_of(run, of)
    if not series.size:
        return None
    return replace(readings.of_series(series), alone2=_disturbed2(run))


@lru_cache(maxsize=256)
def _disturbed2(run: Measured) -> float:
    """Variance of a run's mean that comes from what disturbed it, which may leave the next one
    alone: a part of what the mean iteration takes more than usual ones, as a logarithm."""
    usual = sum(_usual_ns(run, operation) for operation in paths([run]))
    mean = float(_series_of(run, lambda *_: True).mean())
    if usual <= 0 or mean <= 0:
        return 0.0
    return (difference_verdicts.DISTURBANCE_SPREAD * math.log(max(mean / usual, 1.0))) ** 2


def _usual_ns(run: Measured, operation: str) -> float:
    """Of usual entries; the mean where none is known."""
    found = _of_entries(run, operation)
    if found is not None:
        return found.value
    series = operation_series(run, operation)
    return float(series.mean()) if series.size else 0.0


def alike(runs: Sequence[Measured]) -> frozenset[str]:
    """Operations whose usual entries stand for all of them in most of the runs."""
    parts: dict[str, list[float]] = {}
    for run in runs:
        for operation in paths([run]):
            mean = mean_reading(run, _is(operation), ITERATION)
            usual = _of_entries(run, operation)
            if mean and usual and mean.value:
                parts.setdefault(operation, []).append(usual.value / mean.value)
    return frozenset(
        operation
        for operation, found in parts.items()
        if difference_verdicts.are_entries_alike(median(found))
    )


@lru_cache(maxsize=4096)
def _of_entries(run: Measured, operation: str) -> Reading | None:
    """None: no entry is known."""
    entries = run.entry_times.get(operation)
    if not entries or not run.entries.get(operation):
        return None
    return readings.of_entries(entries, per_iteration=run.entries[operation])


def loop_series(run: Measured) -> Values:
    """An iteration's whole time, by group of neighbours in their order."""
    return _series_of(run, lambda *_: True)


def operation_series(run: Measured, operation: str) -> Values:
    """An iteration's time in an operation, by group of neighbours in their order."""
    return _series_of(run, _is(operation))


def _is(operation: str) -> Callable[[str, str], bool]:
    return lambda path, _: path == operation


def usual(run: Measured, operation: str, unit: str, alike: frozenset[str]) -> Reading | None:
    """Usual entries of an iteration; the mean iteration where entries are not alike, or none is
    known."""
    found = _of_entries(run, operation) if unit != RUN and operation in alike else None
    return found or mean_reading(run, _is(operation), unit)


def usual_loop(run: Measured, unit: str, alike: frozenset[str]) -> Reading | None:
    """The sum over operations. They are disturbed together, so that their errors add up."""
    parts = [usual(run, operation, unit, alike) for operation in paths([run])]
    found = [each for each in parts if each is not None and each.value > 0]
    total = sum(each.value for each in found)
    if not total:
        return None
    return Reading(
        total,
        _together(total, [(each.value, each.error2) for each in found]),
        _together(total, [(each.value, each.drift2) for each in found]),
        _together(total, [(each.value, each.alone2) for each in found]) or 0.0,
    )


def _together(total: float, parts: Sequence[tuple[float, float | None]]) -> float | None:
    known = [(value, variance) for value, variance in parts if variance is not None]
    if not known:
        return None
    return (sum(value * math.sqrt(variance) for value, variance in known) / total) ** 2


def paths(runs: Iterable[Measured]) -> list[str]:
    found = {operation for run in runs for operation, _ in run.states}
    return sorted(found - {NOT_RECORDED})

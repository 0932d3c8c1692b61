"""What a record costs in a program, from the probes that ran there (semantics.md, "Probes").

    samples = ProbeSamples.of(directory.sweep(process)["probe"])
    costs = probe_costs(samples, hot_ns={"native_call": 6.0, "annotation": 9.5})

Which of two probes runs is drawn at random, so they differ in what they measure and in nothing
else: the cost is the difference of their means. Waits need no probe of their own: a wait of the
program says itself what its record took.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Nanoseconds = NDArray[np.float64]

KINDS = ("native_call", "annotation")
"""What probes record: one native call; enter and exit of one operation."""
WAITS = ("wait", "short_wait")
"""Waits, and those that are too short for a record."""

# The highest values of each probe that are left out: interrupts and preemptions, which take
# microseconds to milliseconds and meet, of probes of 0.2 us, one in some thousand. What is slow
# because caches are cold is more frequent than that, and stays.
_TRIMMED = 0.01
# More of them for waits: at their ends other threads want the CPU.
_TRIMMED_OF_WAITS = 0.05
# Fewer samples than this say nothing of their own spread.
_FEWEST = 8
# Resamples; of so many samples at most. The spread of smaller resamples, scaled, is that of all of
# them ("m out of n bootstrap"), and 100,000 samples take no longer than 1,000.
_RESAMPLES = 500
_RESAMPLED = 1_000
_SEED = 20_240_229
_NORMAL_95 = 1.96

# In place a record costs up to twenty times its hot loop, and never less: measured between the
# operators of PyTorch and in whole training iterations, where it was 5 to 20 times (6 to 9 ns in
# the loop; 45 ns a record on Zen 5, 108 on Zen 3).
_LEAST_OF_HOT, _MOST_OF_HOT = 1.0, 20.0
# A loop that says next to nothing was disturbed, and is wrong by as much as others differ.
_LEAST_ERROR_NS = 5.0
# The part of the plain probe that lies inside: the called function; one of two methods.
_BODY_INSIDE = {"native_call": 1.0, "annotation": 0.5}
# A body of 43.7 ns was reported as 60: 30 % of what surrounds a body falls inside its interval.
_INSIDE_SHARE = 0.3


@dataclass(frozen=True)
class ProbeSamples:
    """Durations of probes, by what was measured."""

    recorded: Mapping[str, Nanoseconds]
    plain: Mapping[str, Nanoseconds]
    empty: Nanoseconds
    inside: Mapping[str, Nanoseconds]
    """Durations of what recorded probes recorded, as their own records have them."""
    waits: Mapping[str, Nanoseconds]
    """What recording took of a wait, before and after it."""

    @staticmethod
    def of(columns: Mapping[str, Any]) -> ProbeSamples:
        """From the relation `probe` of `_trace.Directory.sweep()`."""
        kind = np.asarray(columns["kind"])
        recorded = np.asarray(columns["recorded"]) == 1
        duration_ns = np.asarray(columns["duration_ps"], np.float64) / 1000
        inside_ns = np.array(columns["inside_ps"], np.float64) / 1000  # None becomes NaN
        return ProbeSamples(
            {each: duration_ns[(kind == each) & recorded] for each in KINDS},
            {each: duration_ns[(kind == each) & ~recorded] for each in KINDS},
            duration_ns[kind == "empty"],
            {each: inside_ns[(kind == each) & ~np.isnan(inside_ns)] for each in KINDS},
            {each: duration_ns[kind == each] for each in WAITS},
        )

    @staticmethod
    def joined(parts: Iterable[ProbeSamples]) -> ProbeSamples:
        """Those of several processes."""
        given = list(parts)

        def join(values: Iterable[Nanoseconds]) -> Nanoseconds:
            return np.concatenate([np.empty(0), *values])

        return ProbeSamples(
            {each: join(p.recorded[each] for p in given) for each in KINDS},
            {each: join(p.plain[each] for p in given) for each in KINDS},
            join(p.empty for p in given),
            {each: join(p.inside[each] for p in given) for each in KINDS},
            {each: join(p.waits[each] for p in given) for each in WAITS},
        )


@dataclass(frozen=True)
class ProbeCost:
    """CPU time that one record adds, with its 95 % interval. Below zero where probes say so: what
    cannot be told apart from nothing lies on both sides of it."""

    mean_ns: float
    low_ns: float
    high_ns: float
    samples: int
    """Probes of both sorts; 0: the hot loop alone."""
    inside_share: float
    """The part of the cost that falls inside the recorded interval."""


def probe_costs(samples: ProbeSamples, hot_ns: Mapping[str, float | None]) -> dict[str, ProbeCost]:
    """The cost of each kind of record that is known.

    Args:
        samples: the probes of the run, or of a part of it.
        hot_ns: by kind, what a record costs in a hot loop (`rlscope/costs/loop_costs.py`); weighs
            as much as its wide interval lets it. None, zero or missing: not measured.
    """
    found: dict[str, ProbeCost] = {}
    for kind in KINDS:
        measured = _difference(samples.recorded[kind], samples.plain[kind])
        cost = _weighed(measured, _prior(hot_ns.get(kind)))
        if cost is None:
            continue
        share = _inside_share(samples, kind)
        count = len(samples.recorded[kind]) + len(samples.plain[kind])
        found[kind] = ProbeCost(cost.mean, cost.low, cost.high, count if measured else 0, share)
    return found


def wait_cost(taken_ns: Nanoseconds) -> ProbeCost | None:
    """What recording costs a wait that took so much of it, none of it inside; None with too few."""
    if len(taken_ns) < _FEWEST:
        return None
    mean = _trimmed_mean(taken_ns, _TRIMMED_OF_WAITS)
    deviations = _deviations(taken_ns, np.random.default_rng(_SEED), _TRIMMED_OF_WAITS)
    low, high = np.quantile(deviations, (0.025, 0.975))
    return ProbeCost(mean, mean + float(low), mean + float(high), len(taken_ns), 0.0)


def mean_probe_ns(samples: ProbeSamples) -> float | None:
    """How long a probe took, between its two readings of the clock, but for preemptions; None
    without any."""
    sorts = [samples.empty, *samples.recorded.values(), *samples.plain.values()]
    taken = [each for each in sorts if len(each)]
    if not taken:
        return None
    return float(np.average([*map(_trimmed_mean, taken)], weights=[*map(len, taken)]))


@dataclass(frozen=True)
class _Estimate:
    mean: float
    low: float
    high: float
    error: float
    """Standard error."""


def _prior(hot_ns: float | None) -> _Estimate | None:
    """What the hot loop says of the program: the middle, by ratio, of what has been measured.
    Nothing where it took no longer with records: it was disturbed."""
    if not hot_ns:
        return None
    low, high = hot_ns * _LEAST_OF_HOT, hot_ns * _MOST_OF_HOT
    middle = hot_ns * float(np.sqrt(_LEAST_OF_HOT * _MOST_OF_HOT))
    error = max((high - low) / (2 * _NORMAL_95), _LEAST_ERROR_NS)
    return _Estimate(middle, low, high, error)


def _difference(recorded: Nanoseconds, plain: Nanoseconds) -> _Estimate | None:
    """The difference of the trimmed means; None with too few samples."""
    if min(len(recorded), len(plain)) < _FEWEST:
        return None
    mean = _trimmed_mean(recorded) - _trimmed_mean(plain)
    random = np.random.default_rng(_SEED)
    deviations = _deviations(recorded, random) - _deviations(plain, random)
    low, high = np.quantile(deviations, (0.025, 0.975))
    # Readings of a coarse clock may all be alike and still not be exact.
    coarse = _coarseness(recorded, plain)
    error = max(float(np.std(deviations)), coarse)
    return _Estimate(
        mean,
        mean + min(float(low), -_NORMAL_95 * coarse),
        mean + max(float(high), _NORMAL_95 * coarse),
        error,
    )


def _trimmed_mean(values: Nanoseconds, trimmed: float = _TRIMMED) -> float:
    return float(_trimmed_means(values[np.newaxis], trimmed)[0])


def _trimmed_means(rows: Nanoseconds, trimmed: float) -> Nanoseconds:
    """The mean of each row, without its highest values."""
    kept = max(1, rows.shape[1] - int(np.ceil(rows.shape[1] * trimmed)))
    return np.asarray(np.partition(rows, kept - 1, axis=1)[:, :kept].mean(axis=1))


def _deviations(
    values: Nanoseconds, random: np.random.Generator, trimmed: float = _TRIMMED
) -> Nanoseconds:
    """How far the trimmed mean of samples like these lies from their own."""
    size = min(len(values), _RESAMPLED)
    drawn = values[random.integers(0, len(values), (_RESAMPLES, size))]
    means = _trimmed_means(drawn, trimmed)
    scale = np.sqrt(size / len(values)) * np.sqrt(size / (size - 1))
    return np.asarray((means - means.mean()) * scale)


def _coarseness(recorded: Nanoseconds, plain: Nanoseconds) -> float:
    """Standard error that the step of the clock alone would give the difference."""
    steps = np.diff(np.unique(np.round(np.concatenate([recorded, plain]), 3)))
    step = float(steps.min()) if len(steps) else 0.0
    return step * float(np.sqrt((1 / len(recorded) + 1 / len(plain)) / 12))


def _weighed(measured: _Estimate | None, prior: _Estimate | None) -> _Estimate | None:
    """Both by their precision; the interval lies between theirs as the mean does."""
    if measured is None or prior is None:
        return measured or prior
    part = 1.0
    if measured.error > 0:
        part = prior.error**2 / (prior.error**2 + measured.error**2)

    def between(one: float, other: float) -> float:
        return part * one + (1 - part) * other

    return _Estimate(
        between(measured.mean, prior.mean),
        between(measured.low, prior.low),
        between(measured.high, prior.high),
        between(measured.error, prior.error),
    )


def _inside_share(samples: ProbeSamples, kind: str) -> float:
    """A recorded call lasts longer, by its own record, than the plain one does: that is the part
    of the cost inside. Half of a `with` that records nothing lies inside of it."""
    recorded, plain, inside_ns = (
        each[kind] for each in (samples.recorded, samples.plain, samples.inside)
    )
    if min(map(len, (recorded, plain, samples.empty, inside_ns))) < _FEWEST:
        return _INSIDE_SHARE
    cost = _trimmed_mean(recorded) - _trimmed_mean(plain)
    body = _trimmed_mean(plain) - _trimmed_mean(samples.empty)
    inside = _trimmed_mean(inside_ns) - body * _BODY_INSIDE[kind]
    if cost <= 0:
        return _INSIDE_SHARE
    return min(1.0, max(0.0, inside / cost))

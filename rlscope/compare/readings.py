"""One number of one run, with what the run itself says of its noise.

    of_series()     iterations in their order --> the mean of one
    of_entries()    entries by how long they take --> a usual entry: their lower quartile

                     |--- blocks of neighbours --> error: neighbours are correlated
    each number -----|
                     |--- quarters of the run ---> how far the machine drifts meanwhile

Other programs make an entry longer and never shorter. So the lower quartile of many short entries
says what the program does, also where half of them were disturbed.
docs/reference/semantics.md, "Comparing runs".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlscope.compare import trimmed

Values = NDArray[np.float64]
Histogram = Mapping[tuple[int, int], int]
"""Block of consecutive iterations, and step of the length -> entries (compared.entry_times())."""

BLOCKS = 20
STEPS = 200
"""Steps of a histogram in which a length grows e-fold."""
_NUMBERS = (5, 10, BLOCKS)
"""In so many blocks a run is looked at: a block is longer than what correlates its iterations, and
which number does that is not known."""
QUARTERS = 4
_FEWEST = 2 * QUARTERS
"""Iterations of a run that says something of drift."""
_USUAL = 0.25
_AROUND = (0.1, 0.4)
_SHORT = 0.05
"""Part of an operation's time in short entries and shorter ones."""


@dataclass(frozen=True)
class Reading:
    """A number above 0 of one run. Variances are of its logarithm: squares of shares of it."""

    value: float
    error2: float | None = None
    """Variance of the number, as far as the run shows it. None: it does not."""
    drift2: float | None = None
    """Variance of a run's number if the machine changes from one run to the next as it does from
    one quarter of the run to the next. None: the run is too short to say."""
    alone2: float = 0.0
    """The least variance of a run's number if no other run of its side is there: what disturbs a
    whole run cannot be seen in it alone."""

    def times(self, factor: float) -> Reading:
        """The same in another unit: it is as noisy."""
        return replace(self, value=self.value * factor)


def of_series(values: Sequence[float] | Values) -> Reading:
    """The mean iteration.

    Args:
        values: of each iteration, or the mean of each group of neighbours, in their order.

    Raises ValueError: there are no iterations.
    """
    series = np.asarray(values, dtype=np.float64)
    if not series.size:
        raise ValueError("no iterations")
    value = float(series.mean())
    if value <= 0 or series.size < 2:
        return Reading(value)
    relative = series / value - 1
    error2 = max(
        _mean_variance(_block_means(relative, min(blocks, series.size))) for blocks in _NUMBERS
    )
    if series.size < _FEWEST:
        return Reading(value, error2)
    return Reading(value, error2, _drift2(_block_means(relative, QUARTERS)))


def of_entries(entries: Histogram, *, per_iteration: float) -> Reading:
    """So many usual entries, in nanoseconds: those of an iteration.

    Raises ValueError: there are no entries.
    """
    counts, first = _counts(entries)
    whole = _quantile(counts.sum(axis=0), _USUAL)
    value = math.exp((first + whole) / STEPS) * per_iteration
    filled = int((counts.sum(axis=1) > 0).sum())
    if filled < 2:
        return Reading(value)
    error2 = max(_jackknife(counts, blocks) for blocks in _NUMBERS)
    quarters = [each.sum(axis=0) for each in np.array_split(counts, QUARTERS)]
    if filled < _FEWEST or not all(each.sum() for each in quarters):
        return Reading(value, error2)
    found = np.array([_quantile(each, _USUAL) for each in quarters]) / STEPS
    return Reading(value, error2, _drift2(found), _spread2(counts.sum(axis=0)))


def of_logarithms(values: Values) -> Reading:
    """A number of which each block of consecutive iterations has a logarithm: their trimmed mean.

    Raises ValueError: there are none.
    """
    found = trimmed.of(values.tolist())
    value = math.exp(found.mean)
    if values.size < _FEWEST:
        return Reading(value)
    quarters = [trimmed.of(each.tolist()).mean for each in np.array_split(values, QUARTERS)]
    return Reading(value, found.one2 / values.size, _drift2(np.array(quarters)))


def block_logarithms(entries: Histogram, *, per_iteration: float, alike: bool) -> Values:
    """The logarithm of an iteration's time, of each block: BLOCKS long. Not a number: the block has
    no entries.

    Args:
        alike: whether usual entries stand for all. Else it is that of short ones: with all that are
            shorter, one makes a twentieth of the time. Entries of no account, however many, do not.

    Raises ValueError: there are no entries.
    """
    counts, first = _counts(entries)
    part = _USUAL
    if not alike:
        counts = counts * np.exp(np.arange(counts.shape[1]) / STEPS)
        part = _SHORT
    found = np.full(BLOCKS, np.nan)
    for block in np.flatnonzero(counts.sum(axis=1)):
        found[block] = (first + _quantile(counts[block], part)) / STEPS
    return found + math.log(per_iteration)


def _spread2(counts: Values) -> float:
    """Where the entries that nothing disturbed are few, the quartile lies on a slope, and the next
    run's lies elsewhere on it: half the slope around it, as a logarithm."""
    low, high = (_quantile(counts, part) for part in _AROUND)
    return ((high - low) / STEPS / 2) ** 2


def _counts(entries: Histogram) -> tuple[Values, int]:
    """Entries by block and step, and the step of the first column."""
    if not entries:
        raise ValueError("no entries")
    first = min(step for _, step in entries)
    last = max(step for _, step in entries)
    counts = np.zeros((BLOCKS, last - first + 1))
    for (block, step), count in entries.items():
        counts[block, step - first] += count
    return counts, first


def _quantile(counts: Values, part: float) -> float:
    """Where a quantile lies, in steps from the first: inside of one, lengths are spread evenly."""
    upto = np.cumsum(counts)
    wanted = part * upto[-1]
    step = int(np.searchsorted(upto, wanted))
    before = upto[step - 1] if step else 0.0
    return float(step + (wanted - before) / counts[step])


def _jackknife(counts: Values, blocks: int) -> float:
    """Variance of the quartile's logarithm, by leaving out one block after the other."""
    parts = [each.sum(axis=0) for each in np.array_split(counts, blocks)]
    whole = counts.sum(axis=0)
    left = [whole - part for part in parts if part.sum() and part.sum() < whole.sum()]
    if len(left) < 2:
        return 0.0
    found = np.array([_quantile(each, _USUAL) for each in left]) / STEPS
    return float((len(left) - 1) * found.var())


def _block_means(series: Values, blocks: int) -> Values:
    return np.array([each.mean() for each in np.array_split(series, blocks)])


def _mean_variance(means: Values) -> float:
    return float(means.var(ddof=1)) / len(means)


def _drift2(quarters: Values) -> float:
    """Half the mean square of the steps between quarters: Allan's variance at the longest time of
    which a run has more than one step."""
    return float(np.mean(np.diff(quarters) ** 2)) / 2

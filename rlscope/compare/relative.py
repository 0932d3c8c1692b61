"""How operations changed relative to the rest of their loop.

Most of what makes one run slower than the next makes all of its operations slower: another clock of
the processor, a neighbour of the machine. An operation divided by the rest of its loop, block of
iterations by block, loses that.

    simulation               __/\\__/~~    logarithm of a short entry, by block
    inference, backprop      __/\\__/~~    the same, their weighted mean
    simulation - the rest    ~~~~~~~~~    of a run: the trimmed mean, and the noise that is left

If one operation becomes slower, all others become faster relative to a rest that holds it. So that
one is said to have changed without which the others agree, and leaves the rest.
docs/reference/semantics.md, "Relative to the rest of the loop".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np

from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import differences, iterations, readings, trimmed
from rlscope.compare.differences import Difference, Relative
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Histogram, Values

_UNSCALED = ("wait", "gpu")
"""Layers whose time a slower core does not make longer."""
_UNEQUAL = (0.05, 0.25)
"""Least and largest part of a change of the machine that operations do not have in common. Where
the rest of a loop hardly changes inside of runs, its noise alone makes a large slope."""
_LEAST_SPREAD2 = 1e-6
"""No operation counts as more alike to another one than by 0.1 %."""
_OF_NORMAL = 1.4826
"""A standard deviation of normal numbers, in medians of how far they are from theirs."""


def changes(
    base: Sequence[Measured],
    new: Sequence[Measured],
    shares: Mapping[str, float],
    alike: frozenset[str],
) -> dict[str, Relative]:
    """By operation; those that cannot be divided are left out.

    Args:
        shares: of the operations that both sides have, on the larger side.
        alike: operations whose usual entries stand for all of them.
    """
    names = [
        name
        for name, share in shares.items()
        if share >= difference_verdicts.RELATIVE_SHARE
        and all(_is_in_step(run, name) for run in (*base, *new))
    ]
    if len(names) < 2:
        return {}
    loop = _Loop(
        [_paces(run, names, alike) for run in base],
        [_paces(run, names, alike) for run in new],
        np.array([shares[name] for name in names]),
        [name in alike for name in names],
    )
    rest, changed = _changed(loop)
    found = {place: loop.relative(place, rest - {place}) for place in range(len(names))}
    return {
        names[place]: Relative(each.difference, place in changed)
        for place, each in found.items()
        if each is not None
    }


def _is_in_step(run: Measured, name: str) -> bool:
    """Whether each block of the run has entries, which take longer on a slower core."""
    times = {layer: ns for (path, layer), ns in run.states.items() if path == name}
    computing = sum(ns for layer, ns in times.items() if layer not in _UNSCALED)
    return (
        bool(run.entries.get(name))
        and computing >= difference_verdicts.COMPUTING_SHARE * sum(times.values())
        and _blocks(run.entry_times.get(name, {})) == _blocks(*run.entry_times.values())
    )


def _blocks(*entries: Histogram) -> set[int]:
    return {block for each in entries for block, _ in each}


@dataclass(frozen=True)
class _Paces:
    """Logarithms of a run's times, operations x blocks that have entries."""

    shorts: Values
    means: Values


def _paces(run: Measured, names: Sequence[str], alike: frozenset[str]) -> _Paces:
    blocks = sorted(_blocks(*run.entry_times.values()))
    shorts = [
        readings.block_logarithms(
            run.entry_times[name], per_iteration=run.entries[name], alike=name in alike
        )
        for name in names
    ]
    series = [iterations.operation_series(run, name) for name in names]
    means = [[part.mean() for part in np.array_split(each, len(blocks))] for each in series]
    return _Paces(np.array(shorts)[:, blocks], np.log(np.maximum(means, 1.0)))


@dataclass(frozen=True)
class _Divided:
    """An operation by the rest of the loop."""

    difference: Difference
    common: float
    """What the rest changed by, as a logarithm."""


@dataclass(frozen=True, eq=False)
class _Loop:
    """The operations of both sides by their places."""

    base: Sequence[_Paces]
    new: Sequence[_Paces]
    shares: Values
    alike: Sequence[bool]
    known: dict[tuple[int, frozenset[int]], _Divided] = field(default_factory=dict)

    @cached_property
    def weights(self) -> Values:
        """What each operation counts in the rest of each other one: its share of the loop by the
        variance of their ratio, which noise of its own makes large."""
        return self.shares / _ratio_variances(self.base, self.new)

    def relative(self, place: int, rest: frozenset[int]) -> _Divided | None:
        """None: there is no rest."""
        if not rest:
            return None
        if (place, rest) not in self.known:
            self.known[place, rest] = self._divided(place, rest)
        return self.known[place, rest]

    def _divided(self, place: int, rest: frozenset[int]) -> _Divided:
        weights = np.zeros(len(self.shares))
        weights[list(rest)] = self.weights[place, list(rest)]
        weights /= weights.sum()
        rests = [[weights @ run.shorts for run in side] for side in (self.base, self.new)]
        common = _middle(rests[1]) - _middle(rests[0])
        short = self._compared(place, "shorts", rests, common)
        if self.alike[place]:
            return _Divided(short, common)
        mean = self._compared(place, "means", rests, common)
        return _Divided(short if mean.low <= short.change <= mean.high else mean, common)

    def _compared(
        self, place: int, kind: str, rests: Sequence[Sequence[Values]], common: float
    ) -> Difference:
        ratios = [
            [getattr(run, kind)[place] - rest for run, rest in zip(side, of_side, strict=True)]
            for side, of_side in zip((self.base, self.new), rests, strict=True)
        ]
        every = [list(chain.from_iterable(each)) for each in (ratios, rests)]
        base, new = ([readings.of_logarithms(each) for each in side] for side in ratios)
        return differences.compare_relative(
            base,
            new,
            doubt=float(self.shares[place]) * difference_verdicts.RELATIVE_DOUBT,
            apart=abs(common) * _unequal(*every),
        )

    def told(self, places: frozenset[int]) -> dict[int, _Divided]:
        """Those of some operations that differ from the rest of these."""
        found = {place: self.relative(place, places - {place}) for place in places}
        return {
            place: each
            for place, each in found.items()
            if each is not None and each.difference.verdict != Verdict.NO_CLEAR_DIFFERENCE
        }


def _middle(runs: Sequence[Values]) -> float:
    return trimmed.of([trimmed.of(each.tolist()).mean for each in runs]).mean


def _unequal(ratios: Sequence[Values], rests: Sequence[Values]) -> float:
    """How much of a change of the machine does not cancel: by how much the ratio changes where the
    rest does, inside of the runs. The slope of least absolute deviations, which few blocks that
    were disturbed do not turn."""
    by, of = (np.concatenate([each - np.median(each) for each in runs]) for runs in (rests, ratios))
    moved = np.flatnonzero(by)
    slopes = of[moved] / by[moved]
    order = np.argsort(slopes)
    upto = np.cumsum(np.abs(by[moved])[order])
    if not moved.size:
        return _UNEQUAL[1]
    slope = slopes[order][np.searchsorted(upto, upto[-1] / 2)]
    return float(np.clip(abs(slope), *_UNEQUAL))


def _ratio_variances(base: Sequence[_Paces], new: Sequence[_Paces]) -> Values:
    """Of the logarithm of each operation by each other one, in a run: operations x operations."""
    sides = [np.array([_ratios(run.shorts) for run in side]) for side in (base, new)]
    within2 = np.median(np.concatenate([side[:, 1] for side in sides]), axis=0)
    between2 = [side[:, 0].var(axis=0, ddof=1) for side in sides if len(side) > 1]
    found: Values = np.maximum(within2, np.mean(between2, axis=0) if between2 else 0.0)
    return found + _LEAST_SPREAD2


def _ratios(shorts: Values) -> Values:
    """The median over blocks, and its variance."""
    apart = shorts[:, None, :] - shorts[None, :, :]
    middle = np.median(apart, axis=2)
    spread = _OF_NORMAL * np.median(np.abs(apart - middle[:, :, None]), axis=2)
    return np.array([middle, spread**2 / shorts.shape[1]])


def _changed(loop: _Loop) -> tuple[frozenset[int], list[int]]:
    """The rest of the loop, and the operations that changed, one after the other: that one without
    which the fewest others differ. Where that does not decide, whose rest changed least."""
    rest, changed = frozenset(range(len(loop.shares))), []
    while told := loop.told(rest):
        place = min(
            told,
            key=lambda each: (
                sum(loop.shares[other] for other in loop.told(rest - {each})),
                abs(told[each].common),
            ),
        )
        changed.append(place)
        rest -= {place}
    return rest, changed

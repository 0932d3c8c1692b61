"""Two sides of runs, number by number: what renderers show and the gate decides by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Verdict
from rlscope.analysis.operations import BETWEEN, NOT_RECORDED, OUTSIDE
from rlscope.compare import differences, environments, readings
from rlscope.compare.differences import Difference
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Reading, Values
from rlscope.errors import RlscopeError

ITERATION, STEP, RUN = "iteration", "environment step", "run"
"""What times are per."""


@dataclass(frozen=True)
class Row:
    """One thing that both sides may have."""

    name: str
    base: float
    """Per unit, the mean of the runs; times are in ns."""
    new: float
    share: float
    """Of the same numbers of the larger side together: 0 to 1."""
    contribution: float
    """How much of the change of the whole it makes: (new - base) / all of base."""
    difference: Difference | None = None
    """None: some run has none of it, so that no ratio is known."""
    corrected: float | None = None
    """The change of the time without what recording cost. None: no cost is known."""

    @property
    def only(self) -> str:
        """The side that alone has it: base, new, or "" for both."""
        return "base" if not self.new else "new" if not self.base else ""

    @property
    def verdict(self) -> Verdict:
        """What can be told."""
        if self.difference is None:
            return Verdict.NO_DIFFERENCE_TOLD
        return self.difference.verdict


@dataclass(frozen=True)
class FindingRow:
    """A finding of advice that a side has in most of its runs."""

    title: str
    base: float | None
    """Part of the loop that it is worth, the mean of the runs with it; None: the side lacks it."""
    new: float | None


@dataclass(frozen=True)
class Comparison:
    """The whole."""

    base: Sequence[Measured]
    new: Sequence[Measured]
    unit: str
    environment: Sequence[environments.Fact]
    """What differs between the sides, or inside of one."""
    warnings: Sequence[str]
    loop: Row
    """Usual time: that of usual entries. Without iterations, all time of the process."""
    mean_loop: Row
    """All time of the loop, with what disturbed it."""
    loop_per_step: Row | None
    """None: a run does not tell its environment steps."""
    cpu: Row | None
    """CPU time of the process over its life; None: not known, or runs differ in length."""
    operations: Sequence[Row]
    layers: Sequence[Row]
    crossings: Sequence[Row]
    lines: Sequence[Row]
    kernels: Sequence[Row]
    findings: Sequence[FindingRow]


def compare(base: Sequence[Measured], new: Sequence[Measured], *, per: str = "") -> Comparison:
    """The comparison of two sides, of one run or more each.

    Args:
        per: ITERATION or STEP; "": environment steps if the iterations of the sides have a
            different number of them, else iterations.

    Raises RlscopeError: `per` is STEP, and a run does not tell its environment steps.
    """
    every = [*base, *new]
    by_iteration = all(each.series for each in every)
    steps = [each.steps for each in every]
    if per == STEP and not (by_iteration and all(steps)):
        raise RlscopeError(
            "a run does not tell its environment steps: they are entries into an operation "
            "such as simulation in complete iterations"
        )
    if not by_iteration:
        unit = RUN
    elif per:
        unit = per
    else:
        equal = not all(steps) or max(steps) <= min(steps) * difference_verdicts.EQUAL_WORK
        unit = ITERATION if equal else STEP
    sides = _Sides(base, new, unit)
    return Comparison(
        base, new, unit, environments.differing(base, new), _warnings(base, new, unit),
        _loop(sides), _mean_loop(sides), _per_step(base, new, by_iteration), _cpu(sides),
        _operations(sides), _layers(sides), _crossings(sides), _lines(sides), _kernels(sides),
        _findings(base, new),
    )  # fmt: skip


@dataclass(frozen=True)
class _Sides:
    base: Sequence[Measured]
    new: Sequence[Measured]
    unit: str

    @property
    def every(self) -> list[Measured]:
        return [*self.base, *self.new]

    def factor(self, run: Measured) -> float:
        """Units in an iteration, inverted."""
        return 1 / run.steps if self.unit == STEP else 1.0

    def units(self, run: Measured) -> float:
        """Units of the whole run."""
        return 1.0 if self.unit == RUN else run.iterations / self.factor(run)

    def row(
        self, name: str, reading: Callable[[Measured], Reading | None], *, doubt: float = 0.0
    ) -> Row:
        """Of readings per iteration, or per run. A chance of 0 to miss: no interval."""
        found = [
            [_scaled(reading(run), self.factor(run)) for run in side]
            for side in (self.base, self.new)
        ]
        means = [sum(each.value for each in side) / len(side) for side in found]
        known = doubt > 0 and all(each.value > 0 for side in found for each in side)
        difference = differences.compare(*found, doubt=doubt) if known else None
        return Row(name, means[0], means[1], 0.0, 0.0, difference)


def _scaled(reading: Reading | None, factor: float) -> Reading:
    return Reading(0.0) if reading is None else reading.times(factor)


def _warnings(base: Sequence[Measured], new: Sequence[Measured], unit: str) -> list[str]:
    every = [*base, *new]
    found = []
    if len({each.facts.get("program") for each in every}) > 1 and not _same_script(every):
        found.append("These are runs of different programs. They are compared all the same.")
    if len({"imported from" in each.facts for each in every}) > 1:
        found.append(
            "Imported runs are compared with recorded ones: another tool's times hold what "
            "that tool cost, and have other layers."
        )
    if any(not each.iterations for each in every):
        found.append(
            "A run has no complete iteration, so that the processes are compared over their "
            "whole lives. Runs of different length differ by that alone."
        )
    elif any(each.iterations == 1 for each in every):
        found.append("A run has one complete iteration, which says nothing of its noise.")
    return found + [
        f"{each.directory} is not complete: {', '.join(each.losses)}."
        for each in every
        if each.losses
    ]


def _same_script(runs: Sequence[Measured]) -> bool:
    return len({environments.script_of(each.facts.get("program", "")) for each in runs}) == 1


# ---- the loop --------------------------------------------------------------------------------


def _series_of(run: Measured, of: Callable[[str, str], bool]) -> Values:
    chosen = [values for state, values in run.series.items() if of(*state)]
    return np.sum(chosen, axis=0) if chosen else np.zeros(0)


def _mean_reading(run: Measured, of: Callable[[str, str], bool], unit: str) -> Reading | None:
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
    usual = _usual_loop(run, ITERATION)
    mean = float(_series_of(run, lambda *_: True).mean())
    if usual is None or mean <= 0:
        return 0.0
    return (difference_verdicts.DISTURBANCE_SPREAD * math.log(max(mean / usual.value, 1.0))) ** 2


@lru_cache(maxsize=4096)
def _usual(run: Measured, operation: str, unit: str) -> Reading | None:
    """Usual entries of an iteration; the mean iteration where no entry is known."""
    entries = run.entry_times.get(operation)
    if unit == RUN or not entries or not run.entries.get(operation):
        return _mean_reading(run, lambda path, _: path == operation, unit)
    return readings.of_entries(entries, per_iteration=run.entries[operation])


def _usual_loop(run: Measured, unit: str) -> Reading | None:
    """The sum over operations. They are disturbed together, so that their errors add up."""
    parts = [_usual(run, operation, unit) for operation in _paths([run])]
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


def _whole(row: Row) -> Row:
    contribution = row.new / row.base - 1 if row.base else 0.0
    return replace(row, share=1.0, contribution=contribution)


def _loop(sides: _Sides) -> Row:
    row = sides.row(
        "the loop", lambda run: _usual_loop(run, sides.unit), doubt=difference_verdicts.LOOP_DOUBT
    )
    return replace(_whole(row), corrected=_corrected(sides, lambda _: True))


def _mean_loop(sides: _Sides) -> Row:
    return _whole(
        sides.row(
            "the loop, with what disturbed it",
            lambda run: _mean_reading(run, lambda *_: True, sides.unit),
            doubt=difference_verdicts.LOOP_DOUBT,
        )
    )


def _per_step(base: Sequence[Measured], new: Sequence[Measured], by_iteration: bool) -> Row | None:
    if not by_iteration or not all(each.steps for each in (*base, *new)):
        return None
    return _loop(_Sides(base, new, STEP))


def _cpu(sides: _Sides) -> Row | None:
    """CPU time is known of a whole life only, which runs of one length have in common."""
    lengths = [run.iterations for run in sides.every]
    known = [run.cpu_ns for run in sides.every if run.cpu_ns]
    if len(known) < len(lengths) or max(lengths) > min(lengths) * difference_verdicts.EQUAL_WORK:
        return None
    alike = sides if sides.unit != STEP else replace(sides, unit=ITERATION)

    def reading(run: Measured) -> Reading:
        mean = _mean_reading(run, lambda *_: True, alike.unit) or Reading(0.0)
        return replace(mean, value=float(run.cpu_ns or 0) / run.units)

    return _whole(
        alike.row("CPU time of the process", reading, doubt=difference_verdicts.LOOP_DOUBT)
    )


# ---- its parts -------------------------------------------------------------------------------


def _paths(runs: Iterable[Measured]) -> list[str]:
    found = {operation for run in runs for operation, _ in run.states}
    return sorted(found - {NOT_RECORDED})


def _parts(
    sides: _Sides,
    names: Iterable[str],
    reading: Callable[[Measured, str], Reading | None],
    corrected: Callable[[str], float | None] = lambda _: None,
) -> list[Row]:
    """Rows of parts of a whole, the one that contributes most to the change first. A part may miss
    with a chance in the proportion of what it has, so that all together may with PARTS_DOUBT."""
    plain = {name: sides.row(name, _of(reading, name)) for name in names}
    base = sum(row.base for row in plain.values())
    whole = max(base, sum(row.new for row in plain.values()))
    rows = []
    for name, row in plain.items():
        share = max(row.base, row.new) / whole if whole else 0.0
        if share <= 0:
            continue
        doubt = min(share, 1.0) * difference_verdicts.PARTS_DOUBT
        full = sides.row(name, _of(reading, name), doubt=doubt)
        rows.append(
            replace(
                full,
                share=share,
                contribution=(row.new - row.base) / base if base else 0.0,
                corrected=corrected(name),
            )
        )
    told = {Verdict.NO_DIFFERENCE_TOLD: 1}
    return sorted(
        rows, key=lambda row: (told.get(row.verdict, 0), -abs(row.contribution), row.name)
    )


def _of(
    reading: Callable[[Measured, str], Reading | None], name: str
) -> Callable[[Measured], Reading | None]:
    return lambda run: reading(run, name)


def _corrected(sides: _Sides, of: Callable[[str], bool]) -> float | None:
    """The change of the time in some operations, without what recording cost."""
    means = []
    for side in (sides.base, sides.new):
        kept = [_kept(run, of) for run in side]
        times = [
            (_mean_reading(run, lambda path, _: of(path), sides.unit) or Reading(0.0)).value
            * sides.factor(run)
            for run in side
        ]
        if any(each is None for each in kept):
            return None
        means.append(
            sum(ns * (part or 0.0) for ns, part in zip(times, kept, strict=True)) / len(side)
        )
    return means[1] / means[0] - 1 if means[0] > 0 else None


def _kept(run: Measured, of: Callable[[str], bool]) -> float | None:
    """The part of the time in some operations that is left without what recording cost."""
    states = [state for state in run.states if of(state[0])]
    corrected = [run.corrected.get(state) for state in states]
    recorded = sum(run.states[state] for state in states)
    if None in corrected or not recorded:
        return None
    return sum(each or 0 for each in corrected) / recorded


def _operations(sides: _Sides) -> list[Row]:
    rows = _parts(
        sides,
        _paths(sides.every),
        lambda run, path: _usual(run, path, sides.unit),
        lambda path: _corrected(sides, lambda each: each == path),
    )
    return [replace(row, name=BETWEEN if row.name == OUTSIDE else row.name) for row in rows]


def _layers(sides: _Sides) -> list[Row]:
    names = sorted({layer for run in sides.every for _, layer in run.states})
    return _parts(
        sides,
        names,
        lambda run, layer: _mean_reading(run, lambda _, each: each == layer, sides.unit),
    )


def _as_noisy(run: Measured, value: float, unit: str, error2: float | None = None) -> Reading:
    """A number of which the run has one value only: it drifts as the loop does."""
    loop = _mean_reading(run, lambda *_: True, unit) or Reading(0.0)
    known2 = error2 if error2 is not None else loop.error2
    return Reading(value, known2, loop.drift2, loop.alone2)


def _crossings(sides: _Sides) -> list[Row]:
    """Counts, which do not drift: runs differ by chance of the program only."""
    if sides.unit == RUN:
        return []

    def reading(run: Measured, name: str) -> Reading | None:
        count = run.crossings.get(name)
        return Reading(count, 0.0, 0.0) if count else None

    return _parts(sides, _names(run.crossings for run in sides.every), reading)


def _lines(sides: _Sides) -> list[Row]:
    found = {id(run): {_line(row): row for row in run.lines} for run in sides.every}

    def reading(run: Measured, name: str) -> Reading | None:
        row = found[id(run)].get(name)
        if row is None or not row["own_ns"]:
            return None
        sampled = (row["own_high_ns"] - row["own_low_ns"]) / (2 * _NORMAL * row["own_ns"])
        return _as_noisy(run, row["own_ns"] / run.units, sides.unit, sampled**2)

    return _parts(sides, _names(found[id(run)] for run in sides.every), reading)


_NORMAL = 1.96
"""Standard errors from an estimate to the end of its 95 % interval."""


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['file'].rpartition('/')[2]}:{row['line']}"


def _kernels(sides: _Sides) -> list[Row]:
    def reading(run: Measured, name: str) -> Reading | None:
        total = run.kernels.get(name)
        return _as_noisy(run, total / run.units, sides.unit) if total else None

    return _parts(sides, _names(run.kernels for run in sides.every), reading)


def _names(every: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for names in every for name in names})


def _findings(base: Sequence[Measured], new: Sequence[Measured]) -> list[FindingRow]:
    """By rule, operation and line: titles have numbers in them."""
    sides = [_side_findings(side) for side in (base, new)]
    keys = sorted(
        {*sides[0], *sides[1]},
        key=lambda key: -max(side[key][1] for side in sides if key in side),
    )
    return [
        FindingRow(
            next(side[key][0] for side in reversed(sides) if key in side),
            *(side[key][1] if key in side else None for side in sides),
        )
        for key in keys
    ]


def _side_findings(side: Sequence[Measured]) -> dict[tuple[str, ...], tuple[str, float]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in side:
        for row in run.findings:
            key = (row["rule"], row["operation"] or "", row["file"] or "")
            found.setdefault(key, []).append(dict(row))
    return {
        key: (rows[0]["title"], sum(row["saving_share"] or 0.0 for row in rows) / len(rows))
        for key, rows in found.items()
        if 2 * len(rows) >= len(side)
    }

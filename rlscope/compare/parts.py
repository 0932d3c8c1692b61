"""Rows of the parts of a loop: operations, layers, crossings, lines, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Verdict
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.compare import iterations, relative, whole
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Reading
from rlscope.compare.rows import RUN, Row, Sides
from rlscope.compare.sources import Place, Sources

_RARE = 0.01
"""Crossings of an iteration up to which they are left out, if both sides have no more."""
_NORMAL = 1.96
"""Standard errors from an estimate to the end of its 95 % interval."""


def _parts(
    sides: Sides,
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
    return sorted(rows, key=_place)


def _place(row: Row) -> tuple[object, ...]:
    """What differs from the rest of the loop comes first: a machine slows all parts of it."""
    untold = Verdict.NO_CLEAR_DIFFERENCE
    contribution = row.contribution
    if row.relative is not None and row.relative_verdict != untold:
        contribution = row.share * row.relative.difference.change
    return (
        row.relative_verdict == untold,
        row.verdict == untold,
        -abs(contribution),
        row.name,
    )


def _of(
    reading: Callable[[Measured, str], Reading | None], name: str
) -> Callable[[Measured], Reading | None]:
    return lambda run: reading(run, name)


def operations(sides: Sides) -> list[Row]:
    rows = _parts(
        sides,
        iterations.paths(sides.every),
        lambda run, path: iterations.usual(run, path, sides.unit, sides.alike),
        lambda path: whole.corrected(sides, lambda each: each == path),
    )
    shares = {row.name: row.share for row in rows if not row.only}
    found = {}
    if sides.unit != RUN:
        found = relative.changes(sides.base, sides.new, shares, sides.alike)
    rows = sorted([replace(row, relative=found.get(row.name)) for row in rows], key=_place)
    return [replace(row, name=BETWEEN if row.name == OUTSIDE else row.name) for row in rows]


def layers(sides: Sides) -> list[Row]:
    names = sorted({layer for run in sides.every for _, layer in run.states})
    return _parts(
        sides,
        names,
        lambda run, layer: iterations.mean_reading(run, lambda _, each: each == layer, sides.unit),
    )


def _as_noisy(run: Measured, value: float, unit: str, error2: float | None = None) -> Reading:
    """A number of which the run has one value only: it drifts as the loop does."""
    loop = iterations.mean_reading(run, lambda *_: True, unit) or Reading(0.0)
    known2 = error2 if error2 is not None else loop.error2
    return Reading(value, known2, loop.drift2, loop.alone2)


def crossings(sides: Sides) -> list[Row]:
    """Counts, which do not drift: runs differ by chance of the program only."""
    if sides.unit == RUN:
        return []

    def reading(run: Measured, name: str) -> Reading | None:
        count = run.crossings.get(name)
        return Reading(count, 0.0, 0.0) if count else None

    names = _names(
        [name for name, count in run.crossings.items() if count >= _RARE] for run in sides.every
    )
    return _parts(sides, names, reading)


def lines(sides: Sides, sources: Sources) -> list[Row]:
    """The same line of both programs is one row."""
    placed = {id(run): dict(_placed(run, sources)) for run in sides.every}
    places = {_key(place): place for of in placed.values() for place in of}
    found = {
        id(run): {_key(place): row for place, row in placed[id(run)].items()} for run in sides.every
    }

    def reading(run: Measured, key: str) -> Reading | None:
        row = found[id(run)].get(key)
        if row is None or not row["own_ns"]:
            return None
        sampled = (row["own_high_ns"] - row["own_low_ns"]) / (2 * _NORMAL * row["own_ns"])
        return _as_noisy(run, row["own_ns"] / run.units, sides.unit, sampled**2)

    rows = _parts(sides, _names(found[id(run)] for run in sides.every), reading)
    return [replace(row, name=places[row.name].name, place=places[row.name]) for row in rows]


def _placed(run: Measured, sources: Sources) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for row in run.lines:
        place = sources.place(run, row["file"], row["line"]) if row["line"] else None
        if place is not None:
            yield place, row


def _key(place: Place) -> str:
    """Sorts by where it is."""
    numbers = (0 if each is None else each for each in (place.base_line, place.new_line))
    return ":".join([place.file, place.new_file, *(f"{each:09d}" for each in numbers)])


def kernels(sides: Sides) -> list[Row]:
    def reading(run: Measured, name: str) -> Reading | None:
        total = run.kernels.get(name)
        return _as_noisy(run, total / run.units, sides.unit) if total else None

    return _parts(sides, _names(run.kernels for run in sides.every), reading)


def _names(every: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for names in every for name in names})

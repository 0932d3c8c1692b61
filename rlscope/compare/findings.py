"""Findings of advice on both sides: the same one if rule, operation, file and line are.

docs/reference/semantics.md, "Lines of two programs".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlscope.compare.measured import Measured
from rlscope.compare.sources import Place, Sources

_NUMBER = re.compile(r"\d(?:[\d,.]*\d)?")
_Group = tuple[str, str, str]
"""Rule, operation and file."""


@dataclass(frozen=True)
class _Found:
    """A finding of one run."""

    side: int
    run: int
    place: Place | None
    row: Mapping[str, Any]


@dataclass(frozen=True)
class FindingRow:
    """A finding that a side has in most of its runs."""

    rule: str
    base_title: str | None
    """None: the side lacks it."""
    new_title: str | None
    base: float | None
    """Part of the loop that it is worth, the mean of the runs with it; None: the side lacks it."""
    new: float | None
    place: Place | None = None
    """None: it has no line."""

    @property
    def title(self) -> str:
        """What is slow, with the numbers of both sides where they differ."""
        if self.base_title is None or self.new_title is None:
            return self.new_title or self.base_title or ""
        return joined(self.base_title, self.new_title)


def compare(
    base: Sequence[Measured], new: Sequence[Measured], sources: Sources
) -> list[FindingRow]:
    """The largest price first."""
    sides = (base, new)
    groups: dict[_Group, list[_Found]] = defaultdict(list)
    for number, (side, run) in enumerate(
        (place, each) for place in (0, 1) for each in sides[place]
    ):
        for row in run.findings:
            group, place = _placed(run, row, sources)
            groups[group].append(_Found(side, number, place, row))
    counts = [len(runs) for runs in sides]
    found = [_row(same, counts) for group in groups.values() for same in _same(group)]
    kept = [each for each in found if each is not None]
    return sorted(kept, key=lambda each: -max(each.base or 0.0, each.new or 0.0))


def _placed(run: Measured, row: Mapping[str, Any], sources: Sources) -> tuple[_Group, Place | None]:
    file, line = row["file"], row.get("line")
    name = sources.name(run, file) if file else ""
    place = sources.place(run, file, line) if file and line else None
    return (row["rule"], row["operation"] or "", name), place


def _same(group: Sequence[_Found]) -> list[list[_Found]]:
    """Those that are one finding. If several lines are about as good, a rule points to one of them
    in this run and to another one in that."""
    lines: dict[tuple[int | None, int | None], list[_Found]] = defaultdict(list)
    for each in group:
        lines[_numbers(each.place)].append(each)
    once = len({each.run for each in group}) == len(group)
    shared = any(len(_sides_of(found)) > 1 for found in lines.values())
    if once and (shared or len(_sides_of(group)) == 1):
        return [list(group)]
    return list(lines.values())


def _sides_of(found: Sequence[_Found]) -> set[int]:
    return {each.side for each in found}


def _numbers(place: Place | None) -> tuple[int | None, int | None]:
    return (None, None) if place is None else (place.base_line, place.new_line)


def _row(same: Sequence[_Found], runs: Sequence[int]) -> FindingRow | None:
    """None: fewer than half of the runs of either side have it."""
    kept = [
        [each for each in same if each.side == side]
        if 2 * len({each.run for each in same if each.side == side}) >= count
        else []
        for side, count in enumerate(runs)
    ]
    if not any(kept):
        return None
    titles = [side[0].row["title"] if side else None for side in kept]
    prices = [_price(side) for side in kept]
    places = [each.place for side in kept for each in side]
    return FindingRow(
        same[0].row["rule"], titles[0], titles[1], prices[0], prices[1],
        max(places, key=places.count),
    )  # fmt: skip


def _price(found: Sequence[_Found]) -> float | None:
    """None: there are none."""
    prices = [each.row["saving_share"] or 0.0 for each in found]
    return sum(prices) / len(prices) if prices else None


def joined(base: str, new: str) -> str:
    """One title of two that differ in their numbers.

    >>> joined("8 calls take 13.2 % of the loop", "8 calls take 20.3 % of the loop")
    '8 calls take 13.2 -> 20.3 % of the loop'
    """
    if _NUMBER.split(base) != _NUMBER.split(new):
        return new
    numbers = iter(zip(_NUMBER.findall(base), _NUMBER.findall(new), strict=True))
    return _NUMBER.sub(lambda _: _both(next(numbers)), base)


def _both(numbers: Iterable[str]) -> str:
    return " -> ".join(dict.fromkeys(numbers))


def of_runs(runs: Sequence[Measured]) -> list[tuple[str, list[float | None]]]:
    """Titles, and what each run's is worth; by rule, operation and file, the largest first."""
    titles: dict[_Group, str] = {}
    prices: dict[_Group, list[list[float]]] = {}
    for place, run in enumerate(runs):
        for row in run.findings:
            group = (row["rule"], row["operation"] or "", row["file"] or "")
            titles.setdefault(group, row["title"])
            prices.setdefault(group, [[] for _ in runs])[place].append(row["saving_share"] or 0.0)
    found = [
        (titles[group], [sum(each) / len(each) if each else None for each in of])
        for group, of in prices.items()
    ]
    return sorted(found, key=lambda each: -max(price or 0.0 for price in each[1]))

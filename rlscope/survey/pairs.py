"""Every two cells of the framework experiment that do equal work, as ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from rlscope.survey.comparison import Absent, Ran, Repetition, ratio, repetitions
from rlscope.survey.results import Results, Value, value_of_ratios
from rlscope.survey.runs import BACKEND


@dataclass(frozen=True)
class Pair:
    """Ratios of the first cell to the second."""

    first: str
    second: str
    time: Value | None
    """Time of one unit of work."""
    backend_time: Value | None
    """In a framework's native code."""
    entries: Value | None
    """Into it, in an iteration. None: one of the two has none."""


def pairs(results: Results) -> list[Pair]:
    """In the order of the cells."""
    found = list(repetitions(results))
    if not found:
        return []
    names = [
        (one.cell.name, other.cell.name)
        for one, other in combinations(found[0].where("framework"), 2)
        if one.task == other.task
    ]
    return [
        Pair(
            first,
            second,
            _ratio(found, first, second, Ran.time),
            _ratio(found, first, second, lambda ran: ran.time(lambda row: row.layer in BACKEND)),
            _ratio(found, first, second, Ran.entries),
        )
        for first, second in names
    ]


def _ratio(
    found: Sequence[Repetition], first: str, second: str, of: Callable[[Ran], float]
) -> Value | None:
    try:
        return value_of_ratios(
            [ratio(of(_named(each, first)), of(_named(each, second)), "it") for each in found]
        )
    except Absent:
        return None


def _named(repetition: Repetition, name: str) -> Ran:
    return next(ran for ran in repetition.ran if ran.cell.name == name)

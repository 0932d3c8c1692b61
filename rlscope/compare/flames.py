"""The differential flame graph: calls of both sides in one tree. Each has the colour of the change
of its own total. Times are usual ones, as the rest of a comparison has them.

Calls are the same if function and file are, below the same callers: lines move when code changes.
docs/reference/semantics.md, "Lines of two programs".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from rlscope.analysis import difference_verdicts
from rlscope.compare import iterations
from rlscope.compare.measured import Measured
from rlscope.compare.rows import Sides
from rlscope.compare.sources import Sources
from rlscope.report import limits, units
from rlscope.report.panel import Flame, Frame

Path = tuple[tuple[str, str], ...]
"""Function and file of each call, the outermost first."""

_UNKNOWN, _SMALL = ("(stack not known)", ""), ("(smaller calls)", "")
_CHANGES = (
    ("much slower", "#B2400B"),
    ("slower", "#E69F00"),
    ("about the same", "#9AA0A6"),
    ("faster", "#56B4E9"),
    ("much faster", "#0072B2"),
)
_GPU = "gpu"


@dataclass
class _Times:
    """Time of a call per unit, by side."""

    ns: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def change(self) -> int:
        """Its place among _CHANGES."""
        base, new = self.ns
        if not base or not new:
            return 0 if new else len(_CHANGES) - 1
        ratio = max(new / base, base / new) - 1
        if ratio <= difference_verdicts.SAME_SHARE:
            return 2
        much = ratio > difference_verdicts.MUCH_SHARE
        return (0 if much else 1) if new > base else (4 if much else 3)


def differential(sides: Sides, sources: Sources) -> Flame | None:
    """None: no side has stacks."""
    times: dict[Path, _Times] = defaultdict(_Times)
    for place, side in enumerate((sides.base, sides.new)):
        for run in side:
            for path, ns in _own_times(run, sides, sources):
                times[path].ns[place] += ns / len(side)
    kept = _large(times)
    if not any(path != (_UNKNOWN,) for path in kept):
        return None
    places = {path: number for number, path in enumerate(sorted(kept, key=len))}
    totals = _totals(kept)
    return Flame(
        key="differential-flame",
        measures={
            "new": "Calls by their time in the new runs, coloured by their change",
            "base": "Calls by their time in the base, coloured by their change",
        },
        frames=[
            Frame(places.get(path[:-1]), _name(path[-1]), _change(totals[path])) for path in places
        ],
        choices={"all operations": [0]},
        layers=_CHANGES,
        parts=[
            (places[path], 0, 0, round(found.ns[1]), round(found.ns[0]))
            for path, found in kept.items()
        ],
        colours=[totals[()].change, *(totals[path].change for path in places)],
    )


def _own_times(run: Measured, sides: Sides, sources: Sources) -> Iterator[tuple[Path, float]]:
    paths: dict[int, Path] = {}
    for row in run.frames:  # a frame after its caller
        above = paths.get(row["caller_frame"], ())
        paths[row["frame"]] = (*above, (row["function"], sources.name(run, row["file"])))
    factors: dict[str, float] = {}
    for row in run.frame_parts:
        if row["layer"] == _GPU or not row["self_ns"]:
            continue
        path = paths.get(row["frame"], ())
        if not row["is_known"]:
            path = (_UNKNOWN,)
        elif row["is_small"]:
            path = (*path, _SMALL)
        operation = row["operation"]
        if operation not in factors:
            factors[operation] = _factor(run, operation, sides)
        yield path or (_SMALL,), row["self_ns"] * factors[operation]


def _factor(run: Measured, operation: str, sides: Sides) -> float:
    """What makes times of a whole loop in an operation usual times per unit, as the page has them:
    the loop has iterations that are not complete, and what disturbed it."""
    usual = iterations.usual(run, operation, sides.unit, sides.alike)
    total = sum(ns for (path, _), ns in run.states.items() if path == operation)
    return usual.value * sides.factor(run) / total if usual and total else 1 / sides.units(run)


def _large(times: dict[Path, _Times]) -> dict[Path, _Times]:
    """At most limits.FRAMES calls, with all their callers."""
    ordered = sorted(times, key=lambda path: -max(times[path].ns))
    kept: dict[Path, _Times] = {}
    for path in ordered:
        chain = [path[:end] for end in range(1, len(path) + 1)]
        if len(kept) + sum(each not in kept for each in chain) > limits.FRAMES:
            break
        for each in chain:
            kept[each] = times.get(each, _Times())
    return kept


def _totals(times: dict[Path, _Times]) -> dict[Path, _Times]:
    """Of each call with those that it made; that of () is all time."""
    found: dict[Path, _Times] = defaultdict(_Times)
    for path, own in times.items():
        for end in range(len(path) + 1):
            for place in range(2):
                found[path[:end]].ns[place] += own.ns[place]
    return found


def _name(call: tuple[str, str]) -> str:
    function, file = call
    return f"{function} ({file})" if file else function


def _change(total: _Times) -> str:
    base, new = total.ns
    return f"base {units.duration(base)}, new {units.duration(new)}"

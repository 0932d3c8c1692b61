"""The sentences and cells of a comparison, for every renderer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rlscope.analysis.difference_verdicts import Gated, Verdict
from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Check, Gate
from rlscope.compare.measured import Measured
from rlscope.compare.rows import RUN, Row
from rlscope.compare.sources import Place
from rlscope.report import limits, units

COLUMNS = ("operation", ">base", ">new", ">change", "verdict", ">of the loop", ">interval")

FINDING_COLUMNS = ("finding", ">worth in base", ">in new", "line")

_ALONE = "That is one run each: record 3 or more of each to be sure."
_OTHER = {"base": "new", "new": "base"}
_COUNTED = {Verdict.SLOWER.value: "more", Verdict.FASTER.value: "fewer"}
_RARE = 0.01
_SAME = 0.01
"""Changes that differ by less say the same."""
_MOST = 9.99
"""Larger changes are all alike."""
_NAMED = 3
"""Operations that the first sentence names."""


def percent(share: float) -> str:
    """With its sign: +5.1 %."""
    if share > _MOST:
        return f"> {100 * _MOST:+.0f} %"
    return f"{100 * share:+.1f} %"


def size(share: float) -> str:
    """Without a sign."""
    return percent(abs(share)).replace("+", "")


def interval(row: Row) -> str:
    """Both ends; "" where there is none."""
    found = row.difference
    if found is None or math.isinf(found.error):
        return ""
    return f"{percent(found.low)} to {percent(found.high)}"


def change(row: Row) -> str:
    """The change of the row."""
    if row.only:
        return _only(row)
    return percent(_change(row) if row.difference else row.new / row.base - 1)


def _only(row: Row) -> str:
    """Why a side has none of it."""
    place = row.place
    if place is not None and place.is_gone:
        return "gone"
    if place is not None and place.is_added:
        return "new"
    return f"only in {row.only}"


def verdict(row: Row) -> str:
    """slower, faster; or why neither is said."""
    if row.only:
        return _why_only(row)
    if row.own_verdict != Verdict.NO_CLEAR_DIFFERENCE:
        return f"{row.own_verdict.value}{_by_rest(row, ', ')}"
    return _by_rest(row) or _untold(row)


def _why_only(row: Row) -> str:
    place = row.place
    if place is None or not place.is_by_text:
        return f"only in {row.only}"
    if place.is_gone:
        return "the line is gone"
    return "a new line" if place.is_added else f"no time in {_OTHER[row.only]} is known"


def _by_rest(row: Row, before: str = "") -> str:
    """What is told relative to the rest of the loop; "" where nothing is."""
    if row.relative is None or row.relative_verdict == Verdict.NO_CLEAR_DIFFERENCE:
        return ""
    told = row.relative_verdict.value
    return f"{before}{size(row.relative.difference.change)} {told} than the rest"


def _untold(row: Row) -> str:
    if row.difference is None:
        return f"{row.verdict.value}, it is not in every run"
    return "too few runs to say" if math.isinf(row.difference.error) else row.verdict.value


def power(row: Row) -> str:
    """What would have been told of the loop; "" where something is, or nothing could be."""
    found = row.difference
    if found is None or math.isinf(found.error) or found.verdict != Verdict.NO_CLEAR_DIFFERENCE:
        return ""
    least = found.could_tell
    what = "slow-down" if found.change >= 0 else "speed-up"
    shown = size(least if found.change >= 0 else least / (1 + least))
    return (
        f"A {what} of the loop by {shown} or more would show in 9 of 10 such comparisons. More "
        "runs show smaller ones."
    )


def cells(row: Row, *, counted: bool = False) -> list[str]:
    """The row under COLUMNS."""
    base, new = (
        "-" if not value else _count(value) if counted else units.duration(value)
        for value in (row.base, row.new)
    )
    changed = " (changed)" if row.place is not None and row.place.is_changed else ""
    return [
        f"{units.operation(row.name)}{changed}",
        base,
        new,
        change(row),
        _COUNTED.get(verdict(row), verdict(row)) if counted else verdict(row),
        units.share(row.share, 1),
        interval(row),
    ]


def _count(value: float) -> str:
    return units.rate(value) if value >= _RARE else f"< {units.rate(_RARE)}"


def code(place: Place | None) -> str:
    """The text of a line of the programs; "" where it is not known."""
    text = place.text if place is not None else None
    return units.visible(text or "")[: limits.LINE_CHARACTERS]


def line(place: Place | None) -> str:
    """Where it is, and its text; "" where nothing is known."""
    return "" if place is None else f"{units.visible(place.name)}  {code(place)}".rstrip()


def grid(title: str, rows: Sequence[Row], *, counted: bool) -> tuple[list[str], list[list[str]]]:
    """Headings and cells, with the text of lines."""
    heads, found = [title, *COLUMNS[1:]], [cells(row, counted=counted) for row in rows]
    if any(row.place for row in rows):
        heads.insert(1, "text")
        for of, row in zip(found, rows, strict=True):
            of.insert(1, code(row.place))
    return heads, found


def headline(comparison: Comparison) -> str:
    """What became slower or faster, in a sentence or two."""
    if comparison.is_of_itself:
        return _of_itself(comparison)
    loop = comparison.loop
    told = [
        row
        for row in comparison.operations
        if row.verdict != Verdict.NO_CLEAR_DIFFERENCE and not row.only
    ]
    parts = [_loop(comparison)]
    if told:
        names = [f"{units.operation(row.name)} is {_changed(row)}" for row in told]
        more = f", and {len(names) - _NAMED} more differ" if len(names) > _NAMED else ""
        parts.append(", ".join(names[:_NAMED]) + more)
    elif loop.verdict == Verdict.NO_CLEAR_DIFFERENCE and not _is_unknown(loop):
        parts[0] += ", nor in any operation"
    alone = f" {_ALONE}" if comparison.is_of_one_run_each else ""
    return f"{'; '.join(parts)}.{alone}"


def _of_itself(comparison: Comparison) -> str:
    runs = [run.directory for run in (*comparison.base, *comparison.new)]
    what = "run" if len(comparison.base) == 1 else f"{len(comparison.base)} runs"
    named = " and ".join(dict.fromkeys(runs[:1] + runs[len(comparison.base) :][:1]))
    return f"Both sides are the same {what}, so that nothing differs: {named}."


def _loop(comparison: Comparison) -> str:
    """What was measured of the loop, and what can be told."""
    row, unit = comparison.loop, comparison.unit
    times = f"took {units.duration(row.base)} and takes {units.duration(row.new)}"
    if row.verdict != Verdict.NO_CLEAR_DIFFERENCE:
        if unit == RUN:
            return f"The run is {size(_change(row))} {row.verdict.value}: it {times}"
        return f"The loop is {size(_change(row))} {row.verdict.value}: an {unit} {times}"
    measured = f"{'The run' if unit == RUN else f'An {unit}'} {times} ({change(row)})"
    return measured if _is_unknown(row) else f"{measured}: {row.verdict.value}"


def _is_unknown(row: Row) -> bool:
    """Whether nothing says how far runs differ."""
    return row.difference is None or math.isinf(row.difference.error)


def _changed(row: Row) -> str:
    """Its own change if that is told; else that relative to the rest of the loop."""
    found = row.relative
    if row.own_verdict != Verdict.NO_CLEAR_DIFFERENCE or found is None:
        return f"{size(_change(row))} {row.verdict.value}"
    change = size(found.difference.change)
    return f"{change} {row.verdict.value} relative to the rest of the loop"


def _change(row: Row) -> float:
    return row.difference.change if row.difference else 0.0


def sides(comparison: Comparison) -> list[str]:
    """Which runs are compared."""
    return [
        f"{name}: {units.plural(len(side), 'run')}, {_length(side)}: "
        + ", ".join(each.directory for each in side)
        for name, side in (("base", comparison.base), ("new", comparison.new))
    ]


def _length(side: Sequence[Measured]) -> str:
    counts = sorted({each.iterations for each in side})
    shown = " to ".join(dict.fromkeys(units.count(each) for each in (counts[0], counts[-1])))
    return f"{shown} complete iterations each"


def whole(comparison: Comparison) -> list[str]:
    """The loop in sentences: the answer, and then what checks it."""
    loop, mean = comparison.loop, comparison.mean_loop
    found = [f"Times are per {comparison.unit}."]
    if comparison.unit == RUN:
        found += [_sentence("The run", loop), _corrected(comparison)]
    else:
        found += [
            _sentence("The loop", loop), power(loop),
            _sentence("Check by mean times, with what disturbed the loop", mean)
            + f" {_corrected(comparison)}",
        ]  # fmt: skip
    if comparison.cpu is not None:
        found.append(_sentence("Check by CPU time of the whole process", comparison.cpu))
    found.append(_per_step(comparison))
    return [each.strip() for each in found if each]


def _corrected(comparison: Comparison) -> str:
    if comparison.loop.corrected is None:
        return ""
    return f"Without what recording cost, the mean changes by {percent(comparison.loop.corrected)}."


def _per_step(comparison: Comparison) -> str:
    """ "" where it says the same as the loop."""
    row, loop = comparison.loop_per_step, comparison.loop
    if row is None or abs(_change(row) - _change(loop)) < _SAME:
        return ""
    return _sentence("Per environment step", row)


def _sentence(name: str, row: Row) -> str:
    told = interval(row)
    shown = f", interval {told}" if told else ""
    return (
        f"{name}: {units.duration(row.base)} and {units.duration(row.new)}, "
        f"{change(row)}{shown}: {verdict(row)}."
    )


def drift(comparison: Comparison) -> list[str]:
    """What one run each cannot rule out."""
    found = comparison.mean_loop.difference
    if found is None or sum(found.runs) > 2:
        return []
    if found.drift is None:
        return ["One run of each side is too short to say how far the machine drifts."]
    return [
        "The machine drifted during these runs. With one run of each side, that alone could "
        f"explain a change of the loop of up to {size(found.drift)}."
    ]


def findings(comparison: Comparison) -> Iterator[list[str]]:
    """Cells under FINDING_COLUMNS."""
    for each in comparison.findings:
        yield [each.title, *(price(value) for value in (each.base, each.new)), line(each.place)]


def price(value: float | None) -> str:
    """What a finding is worth."""
    return "not found" if value is None else units.share(value, 1)


def gate(found: Gate) -> str:
    """The outcome in a sentence."""
    limit = units.share(found.limit, 1)
    if found.outcome == Gated.PASSES:
        return f"The gate passes: nothing is slower by {limit} or more."
    rows = [each for each in found.checks if each.outcome == found.outcome]
    if found.outcome == Gated.FAILS:
        return f"The gate of {limit} fails: {'; '.join(map(check, rows))}."
    more = found.more_runs
    needed = "more runs" if more is None else f"{more} more runs of each side"
    return f"The gate of {limit} cannot tell: {needed} needed for {'; '.join(map(check, rows))}."


def check(found: Check) -> str:
    """One row of it."""
    row = found.row
    name = units.operation(row.name)
    if found.by_rest and row.relative is not None:
        by = row.relative.difference
        told = f"{percent(by.low)} to {percent(by.high)}"
        return f"{name} {percent(by.change)} relative to the rest of the loop ({told})"
    told = interval(row)
    return f"{name} {change(row)}" + (f" ({told})" if told else "")

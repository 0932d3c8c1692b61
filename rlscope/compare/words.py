"""The sentences and cells of a comparison, for every renderer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rlscope.analysis.difference_verdicts import Gated, Verdict
from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Check, Gate
from rlscope.compare.measured import Measured
from rlscope.compare.rows import RUN, Row
from rlscope.report import units

COLUMNS = ("operation", ">base", ">new", ">change", "verdict", ">of the loop", ">interval")

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
        return f"only in {row.only}"
    return percent(_change(row) if row.difference else row.new / row.base - 1)


def verdict(row: Row) -> str:
    """slower, faster; or what could have been told."""
    if row.only:
        return f"only in {row.only}"
    if row.own_verdict != Verdict.NO_DIFFERENCE_TOLD:
        return f"{row.own_verdict.value}{_by_rest(row, ', ')}"
    return _by_rest(row) or f"{row.verdict.value}{_could(row)}"


def _by_rest(row: Row, before: str = "") -> str:
    """What is told relative to the rest of the loop; "" where nothing is."""
    if row.relative is None or row.relative_verdict == Verdict.NO_DIFFERENCE_TOLD:
        return ""
    told = row.relative_verdict.value
    return f"{before}{size(row.relative.difference.change)} {told} than the rest"


def _could(row: Row) -> str:
    found = row.difference
    if found is None:
        return ", it is not in every run"
    by_rest = row.relative.difference.could_tell if row.relative else math.inf
    least = min(found.could_tell, by_rest)
    if math.isinf(least):
        return ", too few runs"
    return f" ({size(least)} would show)"


def cells(row: Row, *, counted: bool = False) -> list[str]:
    """The row under COLUMNS."""
    base, new = (
        "-" if not value else units.rate(value) if counted else units.duration(value)
        for value in (row.base, row.new)
    )
    return [
        units.operation(row.name),
        base,
        new,
        change(row),
        verdict(row),
        units.share(row.share, 1),
        interval(row),
    ]


def headline(comparison: Comparison) -> str:
    """What became slower or faster: one sentence."""
    told = [
        row
        for row in comparison.operations
        if row.verdict != Verdict.NO_DIFFERENCE_TOLD and not row.only
    ]
    loop = comparison.loop
    whole = "The run" if comparison.unit == RUN else "The loop"
    if loop.verdict != Verdict.NO_DIFFERENCE_TOLD:
        first = f"{whole} is {size(_change(loop))} {loop.verdict.value}"
    else:
        first = f"{whole}: no difference told"
    if not told:
        untold = loop.verdict == Verdict.NO_DIFFERENCE_TOLD
        return f"{first}, nor in any of its operations." if untold else f"{first}."
    names = [f"{units.operation(row.name)} is {_changed(row)}" for row in told]
    shown = ", ".join(names[:_NAMED])
    more = f", and {len(names) - _NAMED} more differ" if len(names) > _NAMED else ""
    return f"{first}; {shown}{more}."


def _changed(row: Row) -> str:
    """Its own change if that is told; else that relative to the rest of the loop."""
    found = row.relative
    if row.own_verdict != Verdict.NO_DIFFERENCE_TOLD or found is None:
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
    """The loop, in sentences."""
    found = [f"Times are per {comparison.unit}."]
    rows = [comparison.loop, comparison.mean_loop]
    rows += [row for row in (comparison.cpu,) if row is not None]
    found += [_sentence(row) for row in rows]
    if comparison.loop.corrected is not None:
        found.append(
            "Without what recording cost, the loop changes by "
            f"{percent(comparison.loop.corrected)}."
        )
    per_step = comparison.loop_per_step
    if per_step is not None:
        found.append(
            f"Per environment step, the loop takes {units.duration(per_step.base)} and "
            f"{units.duration(per_step.new)}: {change(per_step)} ({verdict(per_step)})."
        )
    return found


def _sentence(row: Row) -> str:
    name = row.name[0].upper() + row.name[1:]
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
        return [
            "There is one run of each side, and it is too short to say how far the machine drifts. "
            "Record several runs of each."
        ]
    return [
        "There is one run of each side. As the machine drifted during these runs, it alone could "
        f"explain a change of the loop of up to {size(found.drift)}. Record several runs of each."
    ]


def findings(comparison: Comparison) -> Iterator[list[str]]:
    """Cells: the title, and its price on either side."""
    for each in comparison.findings:
        yield [each.title, *(price(value) for value in (each.base, each.new))]


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

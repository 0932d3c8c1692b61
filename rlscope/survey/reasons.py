"""Which cells decide a claim, and what of their time or transitions makes the number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rlscope.report import units
from rlscope.report.layers import label as layer_label
from rlscope.survey.claims import ABOVE, COSTS, ENTRIES, HOLDS, SHARES, UNDECIDED, Judged
from rlscope.survey.pictures import unit_of, units_of
from rlscope.survey.results import CellResult, Results
from rlscope.survey.runs import STAGES, Run

_LARGEST = 2
"""Differences that are named."""


def verdict(judged: Judged, bound: str) -> str:
    """Why the verdict is the one that it is: where the interval lies."""
    if judged.reason or judged.verdict == UNDECIDED:
        return judged.reason
    above = (judged.claim.side == ABOVE) == (judged.verdict == HOLDS)
    return f"the whole interval is {'above' if above else 'below'} {bound}"


def deciding(judged: Judged) -> str:
    """The cells or pairs of which the number is, with how many of the repetitions; "" of none."""
    counted = Counter(judged.by)
    named = {by: count for by, count in counted.items() if by}
    if not named:
        return "all cells" if counted else ""
    whole = len(judged.by)
    return "; ".join(
        f"{' over '.join(by) if len(by) == 2 else ', '.join(by)}"
        f" ({count} of {units.plural(whole, 'repetition')})"
        for by, count in sorted(named.items(), key=lambda each: -each[1])
    )


def why(results: Results, judged: Judged) -> str:
    """What makes the number, of the cells that decide it most often; "" where nothing is known."""
    if not judged.by:
        return ""
    if judged.claim.of == COSTS:
        return _of_costs(results)
    by = Counter(judged.by).most_common(1)[0][0]
    found = [each for name in by for each in results.cells if each.cell.name == name and each.good]
    if len(found) == 2 and judged.claim.of == ENTRIES:
        return _of_entries(found[0], found[1], judged.claim.within)
    if judged.claim.of == SHARES:
        return ". ".join(map(_of_shares, found))
    return _of_times(found[0], found[1], judged.claim.within) if len(found) == 2 else ""


def _of_times(first: CellResult, second: CellResult, within: Sequence[str]) -> str:
    differences = {
        (stage, layer): _difference(first, second, _time(stage, layer))
        for stage in within
        for layer in _layers(first, second)
    }
    named = (
        f"{stage} in {layer_label(layer, False)} {_signed(units.duration, differences[place])}"
        for place in _largest(differences)
        for stage, layer in [place]
    )
    return (
        f"Time{_named(within)}: {first.cell.name} {_duration(first, within)}, "
        f"{second.cell.name} {_duration(second, within)}. "
        f"Largest differences, the first less the second: {', '.join(named)}"
    )


def _of_entries(first: CellResult, second: CellResult, within: Sequence[str]) -> str:
    differences = {(stage, ""): _difference(first, second, _entries(stage)) for stage in STAGES}
    named = (
        f"{stage} {_signed(_count, differences[stage, layer])}"
        for stage, layer in _largest(differences)
    )
    whole = [
        _count(sum(_mean(each, _entries(stage)) for stage in within)) for each in (first, second)
    ]
    return (
        f"Transitions per iteration{_named(within)}: {first.cell.name} {whole[0]}, "
        f"{second.cell.name} {whole[1]}. "
        f"Largest differences, the first less the second: {', '.join(named)}"
    )


def _of_shares(each: CellResult) -> str:
    shares = (f"{stage} {100 * _mean(each, _share(stage)):.1f} %" for stage in STAGES)
    return f"Time: {each.cell.name} {_duration(each, STAGES)}, with {', '.join(shares)}"


def _of_costs(results: Results) -> str:
    """The cells with the least and the largest cost."""
    costs = {
        each.cell.name: sum(known) / len(known)
        for each in results.cells
        if (known := [run.cost[0] for run in each.good if run.cost is not None])
    }
    least, most = min(costs, key=costs.__getitem__), max(costs, key=costs.__getitem__)
    return (
        f"Recording adds least to the loop of {least}, {100 * costs[least]:.2f} %, and most to the "
        f"loop of {most}, {100 * costs[most]:.2f} %"
    )


def _duration(each: CellResult, within: Sequence[str]) -> str:
    def time(run: Run) -> float:
        return run.time(lambda row: row.stage in within) / units_of(run)

    return f"{units.duration(_mean(each, time))} {unit_of(each)}"


def _named(within: Sequence[str]) -> str:
    """Which stages; "" of all."""
    return "" if set(within) == set(STAGES) else f" in {', '.join(within)}"


def _time(stage: str, layer: str) -> Callable[[Run], float]:
    def time(run: Run) -> float:
        return run.time(lambda row: row.stage == stage and row.layer == layer) / units_of(run)

    return time


def _entries(stage: str | None) -> Callable[[Run], float]:
    return lambda run: run.entries(stage) or 0.0


def _share(stage: str) -> Callable[[Run], float]:
    return lambda run: run.share(stage)


def _layers(*cells: CellResult) -> Iterable[str]:
    return dict.fromkeys(row.layer for each in cells for run in each.good for row in run.loop)


def _largest(differences: dict[tuple[str, str], float]) -> Sequence[tuple[str, str]]:
    return sorted(differences, key=lambda key: -abs(differences[key]))[:_LARGEST]


def _difference(first: CellResult, second: CellResult, of: Callable[[Run], float]) -> float:
    return _mean(first, of) - _mean(second, of)


def _signed(text: Callable[[float], str], number: float) -> str:
    return f"{'+' if number >= 0 else '-'}{text(abs(number))}"


def _count(number: float) -> str:
    return units.count(round(number, 1))


def _mean(each: CellResult, of: Callable[[Run], float]) -> float:
    return sum(map(of, each.good)) / len(each.good)

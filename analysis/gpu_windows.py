"""GPU work in windows (rls-prof --gpu-share): what the other iterations launched, and what
recording took of the loop. docs/reference/semantics.md#what-windows-say-of-the-rest has the rules.

    gpu_choice.sql    what --gpu-share auto chose
    gpu_window.sql -- by window, zone and kind --> estimated()   kernels and GPU time of the rest
                                              \\-> costs()       windows against their neighbours

Iterations that follow each other are alike, so windows are the units of both intervals.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope import student
from rlscope.analysis import cuda, processes, statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
Kind = tuple[int, bool | None]
"""The operations of an iteration, and whether it is a long one; None: either."""

BEFORE, AFTER = 1, 2
"""Iterations around a window in which CUPTI is attached and ended."""
FEWEST_WINDOWS = 3
"""Beside the first one. Fewer say nothing of the others."""
_FEWEST_OF_KIND = 2
_OTHER_KINDS = (-1, None)
_SEEN = ("first", "recorded", "whole")
_OF_COST = ("first", "recorded", "edge")


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval of 95 %."""

    mean: float
    low: float
    high: float

    def over(self, divisor: float) -> Interval:
        """All three divided."""
        return Interval(self.mean / divisor, self.low / divisor, self.high / divisor)


@dataclass(frozen=True)
class Estimated:
    """GPU work of the complete iterations of one process."""

    seen: int
    iterations: int
    """Those that were recorded, and all."""
    unknown: int
    """Iterations of kinds that no window has: they are in no number below."""
    unlike_ns: int
    """Time of iterations that are much longer than others with their operations, where too few
    windows have such: they are taken for others."""
    duration_ns: int
    """Time of all other iterations."""
    kernels: Interval
    busy_ns: Interval


@dataclass(frozen=True)
class Cost:
    """What windows took of the loop of one process."""

    windows: int
    """Beside the first one."""
    share: Interval
    """What they took, as a part of the time of all complete iterations."""
    slower: Interval
    """What an iteration in a window takes more than one beside it, as a part of that."""


@dataclass(frozen=True)
class Part:
    """What windows have of a process."""

    seen: float
    """Share of the iterations."""
    uncertainty: float
    """Half the interval of the GPU time of all iterations, as a part of it. 1: there are too few
    windows."""


def part_of(trace: Trace, process_id: int) -> Part | None:
    """None: all GPU work of the process was recorded, or none."""
    rows = recorded(trace).get(process_id)
    if rows is None:
        return None
    seen = _sum(_zones(rows, _SEEN), "iterations") / max(_sum(rows, "iterations"), 1)
    found = estimated(rows)
    if found is None or found.busy_ns.mean <= 0:
        return Part(seen, 1.0)
    half = (found.busy_ns.high - found.busy_ns.low) / 2
    return Part(seen, min(1.0, half / found.busy_ns.mean))


def recorded(trace: Trace) -> dict[int, list[Row]]:
    """Rows of gpu_window.sql by process; empty if no process recorded GPU work in windows."""
    if not sum(cuda.total(trace)["iterations"]):
        return {}
    rows = statement.run(trace, "gpu_window", before=BEFORE, after=AFTER).to_dicts()
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["process_id"]].append({**row, "kind": (row["operations"], row["is_long"])})
    return dict(found)


def choices(trace: Trace) -> Table:
    """process_id, name, recorded, why, launches_per_s, slower_high, after_ns, problem: what
    processes chose to record with --gpu-share auto, in order."""
    return statement.run(trace, "gpu_choice")


def estimates(trace: Trace) -> Table:
    """One row for each process with windows: process_id, name, seen, iterations, unknown,
    unlike_ns, duration_ns, kernels and busy_ns with the ends of their intervals (None: too few
    windows)."""
    names = (
        *("process_id", "name", "seen", "iterations", "unknown", "unlike_ns", "duration_ns"),
        *(*_ends("kernels"), *_ends("busy_ns")),
    )
    return Table.from_rows(names, _rows(trace, _estimate_row), name="gpu_estimate")


def window_costs(trace: Trace) -> Table:
    """One row for each process with windows: process_id, name, windows, iterations, duration_ns,
    share and slower with the ends of their intervals (None: too few windows)."""
    names = (
        *("process_id", "name", "windows", "iterations", "duration_ns"),
        *(*_ends("share"), *_ends("slower")),
    )
    return Table.from_rows(names, _rows(trace, _cost_row), name="gpu_window_cost")


def _rows(trace: Trace, row: Callable[[list[Row]], tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Behind id and name of each process."""
    names = {each["process_id"]: each["name"] for each in processes.process_names(trace).to_dicts()}
    for process_id, rows in recorded(trace).items():
        yield (process_id, names.get(process_id), *row(rows))


def _ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _estimate_row(rows: list[Row]) -> tuple[Any, ...]:
    found = estimated(rows)
    if found is None:
        whole = (_sum(_zones(rows, _SEEN), "iterations"), _sum(rows, "iterations"))
        return (*whole, None, None, _sum(rows, "duration_ns"), *[None] * 6)
    whole = (found.seen, found.iterations)
    return (*whole, found.unknown, found.unlike_ns, found.duration_ns, *_rounded(found.kernels),
            *_rounded(found.busy_ns))  # fmt: skip


def _cost_row(rows: list[Row]) -> tuple[Any, ...]:
    found = costs(rows)
    whole = (_sum(rows, "iterations"), _sum(rows, "duration_ns"))
    if found is None:
        return (len(_others(rows)), *whole, *[None] * 6)
    return (found.windows, *whole, *_three(found.share), *_three(found.slower))


def _three(value: Interval) -> tuple[float, float, float]:
    return value.mean, value.low, value.high


def _rounded(value: Interval) -> tuple[int, ...]:
    return tuple(map(round, _three(value)))


def _sum(rows: Iterable[Row], column: str) -> int:
    return sum(row[column] or 0 for row in rows)


def _zones(rows: Iterable[Row], zones: Sequence[str]) -> list[Row]:
    return [row for row in rows if row["zone"] in zones]


def _others(rows: Iterable[Row]) -> list[int]:
    """Windows that were chosen at random: neither the first, nor one that lasts."""
    return sorted({row["window_id"] for row in _zones(rows, ("first",))} - {0})


# ---- what the rest launched ----------------------------------------------------------------------


def estimated(rows: Sequence[Row]) -> Estimated | None:
    """GPU work of all iterations of a process, from its rows of gpu_window.sql; None: there are
    fewer than FEWEST_WINDOWS."""
    windows = _others(rows)
    if len(windows) < FEWEST_WINDOWS:
        return None
    unlike = _rare(rows, windows, "kind")
    rows = _pooled(rows, windows)
    seen = _zones(rows, _SEEN)
    unseen = [row for row in rows if row["zone"] not in _SEEN]
    known = {row["kind"] for row in seen if _is_chosen(row)}
    unknown = [row for row in unseen if row["kind"] not in known]
    return Estimated(
        seen=_sum(seen, "iterations"),
        iterations=_sum(rows, "iterations"),
        unknown=_sum(unknown, "iterations"),
        unlike_ns=_sum((r for r in unseen if r["is_long"] and r["of"] in unlike), "duration_ns"),
        duration_ns=_sum(rows, "duration_ns") - _sum(unknown, "duration_ns"),
        kernels=_whole(rows, windows, known, "kernels"),
        busy_ns=_whole(rows, windows, known, "busy_ns"),
    )


def _pooled(rows: Sequence[Row], windows: Sequence[int]) -> list[Row]:
    """Where long iterations are in too few windows, they are of one kind with the others that have
    their operations. Where these are, too, they are one with all such. `of`: the kind before."""
    rare, rare_operations = _rare(rows, windows, "kind"), _rare(rows, windows, "operations")
    mixed = {operations for operations, _ in rare}

    def kind(row: Row) -> Kind:
        if row["operations"] in rare_operations:
            return _OTHER_KINDS
        return (row["operations"], None) if row["operations"] in mixed else row["kind"]

    return [{**row, "of": row["kind"], "kind": kind(row)} for row in rows]


def _rare(rows: Sequence[Row], windows: Sequence[int], column: str) -> set[Any]:
    """Values that are in too few windows."""
    found: dict[Any, set[int]] = {row[column]: set() for row in rows}
    for row in _zones(rows, _SEEN):
        found[row[column]].add(row["window_id"])
    chosen = set(windows)
    return {value for value, of in found.items() if len(of & chosen) < _FEWEST_OF_KIND}


def _whole(rows: Sequence[Row], windows: Sequence[int], kinds: set[Kind], column: str) -> Interval:
    """The sum over all iterations of these kinds: what was recorded, and what the rest took."""
    seen = _zones(rows, _SEEN)
    weights = _weights(rows, windows)
    mean, deviations = float(_sum(seen, column)), dict.fromkeys(windows, 0.0)
    for kind in kinds:
        of_kind = [row for row in rows if row["kind"] == kind]
        unseen = _sum(of_kind, "iterations") - _sum(_zones(of_kind, _SEEN), "iterations")
        counts = _by_window(_zones(of_kind, _SEEN), "iterations")
        sums = _by_window(_zones(of_kind, _SEEN), column)
        weight = sum(weights[each] * counts[each] for each in windows)
        of_one = sum(weights[each] * sums[each] for each in windows) / weight
        mean += unseen * of_one
        everywhere = unseen + sum(counts[each] for each in windows)
        for each in windows:
            part = weights[each] * (sums[each] - of_one * counts[each]) / weight
            deviations[each] += math.sqrt(unseen * everywhere) * part
    half = _half_width([*deviations.values()])
    return Interval(mean, max(float(_sum(seen, column)), mean - half), mean + half)


def _weights(rows: Sequence[Row], windows: Sequence[int]) -> dict[int, float]:
    """For how many iterations one of a window stands."""
    near, inside = _by_window(rows, "iterations"), _by_window(_zones(rows, _SEEN), "iterations")
    return {each: near[each] / inside[each] for each in windows}


def _by_window(rows: Iterable[Row], column: str) -> dict[int, int]:
    sums: dict[int, int] = defaultdict(int)
    for row in rows:
        sums[row["window_id"]] += row[column] or 0
    return sums


def _half_width(deviations: Sequence[float]) -> float:
    """Half the interval of a sum, from what each window says more than all of them."""
    windows = len(deviations)
    centre = math.fsum(deviations) / windows
    squares = math.fsum((each - centre) ** 2 for each in deviations)
    return student.half_width(windows - 1) * math.sqrt(windows / (windows - 1) * squares)


# ---- what windows cost ---------------------------------------------------------------------------


def costs(rows: Sequence[Row]) -> Cost | None:
    """What windows took, from the rows of a process; None: fewer than FEWEST_WINDOWS have
    iterations beside them."""
    beside = _Beside(rows)
    found = [each for each in _others(rows) if beside.has(each)]
    if len(found) < FEWEST_WINDOWS:
        return None
    # What each window costs, and what its iterations inside cost more, and how many they are.
    added = {each: beside.added_ns(each, _OF_COST) for each in found}
    inside = _inside(rows)
    slower = [beside.added_ns(each, inside) for each in found]
    kernels = [beside.compared_kernels(each, inside) for each in found]
    base = [beside.expected_ns(each, inside) for each in found]
    one_ns = sum(slower) / max(sum(kernels), 1)
    whole = _sum((r for r in _zones(rows, _SEEN) if not _is_chosen(r)), "kernels")
    # A window without neighbours costs what the others do.
    scale = len(_others(rows)) / len(found)
    mean = scale * sum(added.values()) + whole * one_ns
    deviations = [
        scale * (added[each] - sum(added.values()) / len(found))
        + whole * (more - one_ns * n) / max(sum(kernels), 1)
        for each, more, n in zip(found, slower, kernels, strict=True)
    ]
    whole_ns = _sum(rows, "duration_ns")
    return Cost(
        windows=len(found),
        share=_around(mean, _half_width(deviations)).over(whole_ns),
        slower=_ratio(slower, base),
    )


def _is_chosen(row: Row) -> bool:
    """Whether a recorded iteration lies in a window that was chosen at random."""
    return bool(row["window_id"] > 0 and row["zone"] != "whole")


def _inside(rows: Sequence[Row]) -> Sequence[str]:
    """Iterations of windows in which CUPTI is not attached, where there are some."""
    inside = [row for row in _zones(rows, ("recorded",)) if row["window_id"] > 0]
    return ("recorded",) if inside else _SEEN


def _ratio(more: Sequence[float], base: Sequence[float]) -> Interval:
    """The ratio of two sums over windows, with its interval."""
    ratio = sum(more) / sum(base)
    deviations = [(a - ratio * b) / sum(base) for a, b in zip(more, base, strict=True)]
    return _around(ratio, _half_width(deviations))


def _around(mean: float, half: float) -> Interval:
    return Interval(mean, mean - half, mean + half)


class _Beside:
    """What iterations take that lie beside windows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            self._rows[row["window_id"]].append(row)
        beside = _zones(rows, ("beside",))
        self._everywhere = self._means(beside)
        self._here = {each: self._means(_zones(of, ("beside",))) for each, of in self._rows.items()}

    @staticmethod
    def _means(rows: Sequence[Row]) -> dict[Kind, float]:
        """One iteration, by kind: nanoseconds."""
        counts: dict[Kind, int] = defaultdict(int)
        times: dict[Kind, int] = defaultdict(int)
        for row in rows:
            counts[row["kind"]] += row["iterations"]
            times[row["kind"]] += row["duration_ns"]
        return {kind: times[kind] / counts[kind] for kind in counts}

    def has(self, window: int) -> bool:
        return bool(self._here[window])

    def _mean_ns(self, window: int, kind: Kind) -> float | None:
        return self._here[window].get(kind, self._everywhere.get(kind))

    def _compared(self, window: int, zones: Sequence[str]) -> list[tuple[Row, float]]:
        rows = _zones(self._rows[window], zones)
        found = ((row, self._mean_ns(window, row["kind"])) for row in rows)
        return [(row, mean_ns) for row, mean_ns in found if mean_ns is not None]

    def compared_kernels(self, window: int, zones: Sequence[str]) -> int:
        """What the iterations launched that are compared."""
        return sum(row["kernels"] or 0 for row, _ in self._compared(window, zones))

    def expected_ns(self, window: int, zones: Sequence[str]) -> float:
        """As many iterations of the same kinds, beside it."""
        found = self._compared(window, zones)
        return float(sum(row["iterations"] * mean_ns for row, mean_ns in found))

    def added_ns(self, window: int, zones: Sequence[str]) -> float:
        """What its own take more than that."""
        own_ns = sum(row["duration_ns"] for row, _ in self._compared(window, zones))
        return float(own_ns - self.expected_ns(window, zones))

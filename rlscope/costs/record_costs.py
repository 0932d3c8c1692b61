"""What one record costs the program, by kind: the relation `calibration`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rlscope.costs.calibrations import CUDA_CALL, CUDA_SUBMISSION
from rlscope.costs.probe_costs import (
    ProbeCost,
    ProbeSamples,
    mean_probe_ns,
    probe_costs,
    wait_cost,
)

# docs/design/0011 has the measurements behind these factors. Each mean is that of the geometric
# mean of the two ends. Caches and a CPU that works ahead change the first nanoseconds of a cost:
# how many stands with each factor. The rest costs the same anywhere: where reading the clock is
# slow, a record is, and no slower between a program's own calls.
# A probe does not see that the program finds its own data no longer in the caches, because the
# record took their place: whole iterations showed up to so many times what probes did, of so many
# nanoseconds.
_UNSEEN = (2.6, 60.0)
# A wait leaves the caches to others: its record took 28 ns by its own readings of the clock, and
# some 200 by whole iterations of sleeps.
_UNSEEN_OF_WAIT = (20.0, 30.0)
# Code that runs again after the first of these times finds its data in the caches, as the loop at
# the end of the run does. Code that runs after the second one does not; nor does a probe.
_HOT_NS, _COLD_NS = 1e4, 1e5
# In tight loops of whole programs a record costs 0.1 to 3 times what it does in that loop: less
# where the CPU makes the record beside the call.
_TIGHT_LOW, _TIGHT_HIGH = 0.1, 3.0
_TIGHT_OF_NS = 30.0
# Between a program's own calls a record costs more than in a loop of nothing else, whose code and
# ring stay in the caches: 1 to 20 times as much.
_LOOP_LOW, _LOOP_HIGH = 1.0, 20.0
_LOOP_OF_NS = 30.0
# The part of a native call's record cost that lies between the two readings of the clock.
_INSIDE = 0.3
LAUNCH_ON_H100_NS = (8_000.0, 2_000.0, 14_000.0)
"""What recording all of CUDA adds to a launch in a loop, with its ends: of the loops of
docs/reference/gpu.md that ran beside a process without CUPTI, 29.2 % [15.9, 37.8] of 27 us a launch
and 21.8 % [4.6, 34.0] of 41 us. Nothing in a run says where in that it lies."""
CALLS_OF_LOOP = (0.0, 0.05)
"""What callbacks of CUDA calls alone take of a loop, by the same page."""
_NUMBERS = ("mean_ns", "low_ns", "high_ns", "inside")

OPERATION, AUTOMATIC, NATIVE = "operation", "automatic event", "native call"
WAIT, CALLBACK, OTHER, LOST = "wait", "callback", "other record", "lost record"
SHORT_WAIT, PROBE = "short wait", "probe"
RING_WAIT = "ring wait"
"""Counted in nanoseconds: a thread waited until its ring had room."""

# Kinds that cost about as much as another one, which is measured.
_ALIKE = {WAIT: NATIVE, SHORT_WAIT: NATIVE, CALLBACK: NATIVE, LOST: NATIVE, OTHER: OPERATION}

_PER_PAIR, _PER_CALL = "operation_cost_ns", "native_cost_ns"
_LOOP_METRICS = {
    OPERATION: (_PER_PAIR, 2),  # of entering and leaving: two records
    AUTOMATIC: ("automatic_cost_ns", 1),
    NATIVE: (_PER_CALL, 1),
}

MEASURED = tuple(_LOOP_METRICS)
"""Kinds that a loop at the end of a run measures."""
# Which of the probes measures a kind.
_PROBES = {OPERATION: "annotation", NATIVE: "native_call"}
# Which samples of waits do.
_WAITS = {WAIT: "wait", SHORT_WAIT: "short_wait"}


@dataclass(frozen=True)
class Cost:
    """CPU nanoseconds that one record of a kind adds to the program."""

    kind: str
    mean_ns: float
    low_ns: float
    high_ns: float
    """Ends of the 95 % interval."""
    inside: float
    """Part of it inside of what the record tells of, 0 to 1."""
    samples: int
    method: str

    def at(self, end: str, side: str) -> float:
        """The part of the cost on one side: `end` mean, low or high; `side` inside or outside."""
        cost: float = getattr(self, f"{end}_ns")
        if self.kind == WAIT and side == "inside":
            return 0.0  # else it would have waited for as much longer
        return cost * (self.inside if side == "inside" else 1 - self.inside)


def _times(cost_ns: float, factor: float, of_ns: float) -> float:
    """The cost, of which `of_ns` at most are multiplied."""
    return cost_ns + (factor - 1) * min(cost_ns, of_ns)


Calibration = Mapping[str, Cost]
"""Costs by kind; kinds that are missing have no known cost."""


def _of_loops(metrics: Mapping[str, float]) -> Calibration:
    costs = {}
    for kind, (metric, records) in _LOOP_METRICS.items():
        if metric in metrics:
            hot_ns = metrics[metric] / records
            costs[kind] = Cost(
                kind,
                mean_ns=_times(hot_ns, math.sqrt(_LOOP_LOW * _LOOP_HIGH), _LOOP_OF_NS),
                low_ns=_times(hot_ns, _LOOP_LOW, _LOOP_OF_NS),
                high_ns=_times(hot_ns, _LOOP_HIGH, _LOOP_OF_NS),
                inside=_INSIDE,
                samples=1,
                method="a loop at the end of the run, where it costs least",
            )
    return costs


@dataclass
class Gaps:
    """How far apart in time the same code makes its records, over the processes of a run."""

    records: int = 0
    cold: float = 0.0

    def add(self, lived_ns: int, counts: Iterable[int]) -> None:
        """Takes how often each piece of code ran in a process that recorded for `lived_ns`."""
        for count in counts:
            decades = math.log(max(lived_ns / count, 1.0) / _HOT_NS)
            self.records += count
            self.cold += count * min(1.0, max(0.0, decades / math.log(_COLD_NS / _HOT_NS)))

    @property
    def cold_share(self) -> float:
        """The part of them that finds its data no longer in the caches; 1 without any."""
        return self.cold / self.records if self.records else 1.0


def of_run(
    metrics: Mapping[str, float],
    samples: ProbeSamples,
    gaps: Mapping[str, Gaps],
    calibrated: Calibration | None = None,
) -> Calibration:
    """Costs of a calibration, where there is one; else from the probes of a run, where there are
    enough; else from the loops that rls-prof measures at its end; empty without any. Neither probes
    nor loops see what CUPTI costs, so CUDA calls have a cost by a calibration only.

    Args:
        metrics: of the machine, by name (rlscope/record/machine.py).
        samples: the probes of the run.
        gaps: of kinds of records; those that are close together cost what the loop says.
        calibrated: what iterations with and without records showed (of_calibration()).
    """
    loops = {name: ns for name, ns in metrics.items() if ns > 0}  # no record is free
    hot_ns = {"native_call": loops.get(_PER_CALL), "annotation": loops.get(_PER_PAIR)}
    found = probe_costs(samples, hot_ns)
    costs = dict(_of_loops(loops))
    for kind, (metric, records) in _LOOP_METRICS.items():
        probed = found.get(_PROBES.get(kind, ""))
        if probed is not None and probed.samples:
            costs[kind] = _from_probes(kind, probed, records)
        if kind in gaps and metric in loops:
            costs[kind] = _between(loops[metric] / records, costs[kind], gaps[kind].cold_share)
    for kind, name in _WAITS.items():
        if (of_wait := wait_cost(samples.waits[name])) is not None:
            unseen = _UNSEEN_OF_WAIT if kind == WAIT else _UNSEEN
            costs[kind] = _from_probes(kind, of_wait, 1, unseen)
    spent_ns = mean_probe_ns(samples)
    if costs and spent_ns is not None:
        # Twice, for what lies around its two readings of the clock.
        costs[PROBE] = Cost(PROBE, spent_ns, spent_ns, 2 * spent_ns, 1.0, 0, "their own durations")
    if costs:
        costs[RING_WAIT] = Cost(RING_WAIT, 1.0, 1.0, 1.0, 1.0, 0, "their own durations")
    return {**_with_alike(costs), **(calibrated or {})}


def _between(hot_ns: float, cold: Cost, cold_share: float) -> Cost:
    """The cost of records of which some are made in tight loops."""

    def between(hot: float, cold: float) -> float:
        return hot + cold_share * (cold - hot)

    def tight(factor: float) -> float:
        return _times(hot_ns, factor, _TIGHT_OF_NS)

    return replace(
        cold,
        mean_ns=between(tight(math.sqrt(_TIGHT_LOW * _TIGHT_HIGH)), cold.mean_ns),
        low_ns=between(tight(_TIGHT_LOW), cold.low_ns),
        high_ns=between(tight(_TIGHT_HIGH), cold.high_ns),
    )


def _from_probes(
    kind: str, cost: ProbeCost, records: int, unseen: tuple[float, float] = _UNSEEN
) -> Cost:
    most, of_ns = unseen

    def with_unseen(cost_ns: float, factor: float) -> float:
        return _times(cost_ns / records, factor, of_ns)

    mean_ns = with_unseen(cost.mean_ns, math.sqrt(most))
    return Cost(
        kind,
        mean_ns=mean_ns,
        low_ns=min(cost.low_ns / records, mean_ns),
        high_ns=max(cost.high_ns / records, with_unseen(cost.high_ns, most)),
        inside=cost.inside_share,
        samples=cost.samples,
        method="probes in the run",
    )


def _with_alike(costs: Calibration) -> Calibration:
    """The same, and of kinds that were not measured the cost of one that is like them."""
    alike = {
        kind: replace(costs[other], kind=kind, samples=0, method=f"as {other}")
        for kind, other in _ALIKE.items()
        if other in costs and kind not in costs
    }
    return {**costs, **alike}


def of_calibration(kept: Mapping[str, Any] | None) -> Calibration:
    """The costs that a calibration holds (calibrations.chosen); empty if it is none or damaged."""
    if kept is None:
        return {}
    try:
        return {
            str(each["kind"]): Cost(
                kind=str(each["kind"]),
                **{name: _finite(each[name]) for name in _NUMBERS},
                samples=int(kept["pairs"]),
                method=str(kept["method"]),
            )
            for each in kept["costs"]
        }
    except (ValueError, TypeError, KeyError):
        return {}


def in_windows(calibrated: Calibration) -> Calibration:
    """The same for a run that recorded GPU work in windows: a submission has callbacks everywhere,
    and activity records in windows only. What windows took, they say themselves."""
    without = {kind: cost for kind, cost in calibrated.items() if kind != CUDA_SUBMISSION}
    if CUDA_CALL not in without:
        return without
    return {**without, CUDA_SUBMISSION: replace(without[CUDA_CALL], kind=CUDA_SUBMISSION)}


def _finite(number: Any) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError("not a cost")
    return value


def columns(calibration: Calibration) -> dict[str, Sequence[object]]:
    """The relation `calibration`."""
    costs = [*calibration.values()]
    names = ("kind", "mean_ns", "low_ns", "high_ns", "inside", "samples", "method")
    return {
        "calibration_id": list(range(len(costs))),
        **{name: [getattr(cost, name) for cost in costs] for name in names},
    }

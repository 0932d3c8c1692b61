"""Steps about times: lengths of kernels, and the clocks."""

from __future__ import annotations

import itertools
import statistics

import numpy
from gpu_runs import Bench, Figures, check
from support.cuda.trace import KERNEL, Row

LENGTH_ERROR = 0.02
GRAIN_NS = 2000  # of the GPU's clock, and of a kernel's way in and out
EVENTS_NS = 5000  # what a pair of events takes more than the kernel between them
QUEUED_NS = 5000  # from the end of a kernel to the next that waits behind it
DRIFT_NS = 2000
WANDER_NS = 5000  # of our times about a line through the GPU's own clock
SECONDS = {False: 60, True: 240}


def lengths_and_clock(bench: Bench) -> Figures:
    """Kernels last as long as they should, and as events say; waiting ends after them, by the same
    span all along; starts keep step with the GPU's own clock."""
    seconds = SECONDS[bench.patient]
    run = bench.record("driver_spins.py", str(seconds))
    said = run.said
    every = sorted(run.work(KERNEL), key=lambda row: row["start_ns"])
    made = len(said["lengths_ns"])
    check(len(every) == 2 * made, f"{len(every)} of {2 * made} kernels")
    kernels = every[1::2]  # each behind one that holds the queue until all is in it
    syncs = [c for c in run.calls().values() if c["name"].startswith("cuStreamSynchronize")]
    check(len(syncs) == len(kernels), f"{len(syncs)} calls that wait")
    ends = sorted(call["end_ns"] for call in syncs)
    lag = [end - row["end_ns"] for end, row in zip(ends, kernels, strict=True)][: said["short"]]
    figures = {
        "seconds": seconds,
        "medians_ns": _by_length(said["lengths_ns"], [row["duration_ns"] for row in kernels]),
        "events_medians_ns": _by_length(said["lengths_ns"], said["between_ns"]),
        "wait_after_kernel_ns": statistics.median(lag),
        "drift_ns": _drift(lag),
        **_against_events(every[::2], kernels, said["since_ns"]),
    }
    check(min(lag) >= -5000, f"a wait ended {-min(lag)} ns before its kernel", figures)
    check_lengths(figures)
    check(
        abs(figures["drift_ns"]) < DRIFT_NS,
        f"the clocks drift by {figures['drift_ns']} ns",
        figures,
    )
    wander = figures["wander_p99_ns"]
    check(wander < WANDER_NS, f"times wander by {wander} ns about the GPU's clock", figures)
    return figures


def check_lengths(figures: Figures) -> None:
    for length_ns, median in figures["medians_ns"].items():
        allowed = max(LENGTH_ERROR * length_ns, GRAIN_NS)
        check(
            abs(median - length_ns) <= allowed, f"{length_ns} ns were recorded as {median}", figures
        )
        events = figures["events_medians_ns"][length_ns]
        allowed = max(LENGTH_ERROR * length_ns, EVENTS_NS)
        check(
            abs(median - events) <= allowed, f"{median} ns, of which events say {events}", figures
        )


def _by_length(lengths: list[int], found: list[float]) -> dict[int, float]:
    pairs = sorted(zip(lengths, found, strict=True))
    groups = itertools.groupby(pairs, key=lambda pair: pair[0])
    return {length: statistics.median(value for _, value in group) for length, group in groups}


def _drift(lag: list[int]) -> float:
    """The last third against the first. The quick ones tell: the CPU delays the others."""
    third = len(lag) // 3
    return float(numpy.quantile(lag[-third:], 0.1) - numpy.quantile(lag[:third], 0.1))


def _against_events(gates: list[Row], kernels: list[Row], since_ns: list[float]) -> Figures:
    """How the starts of kernels lie about a line through the GPU's clock, which events read.

    Only those count that began as soon as the kernel before ended: the CPU was late with others.
    """
    gpu = numpy.cumsum(numpy.asarray(since_ns))
    ours = numpy.asarray([row["start_ns"] for row in kernels], dtype=float) - kernels[0]["start_ns"]
    behind = [row["start_ns"] - gate["end_ns"] for gate, row in zip(gates, kernels, strict=True)]
    queued = numpy.asarray(behind) < QUEUED_NS
    gpu, ours = gpu[queued], ours[queued]
    slope, offset = numpy.polyfit(gpu, ours, 1)
    wander = numpy.abs(ours - (slope * gpu + offset))
    return {
        "queued": int(queued.sum()),
        "gpu_clock_ppm": round((slope - 1) * 1e6, 3),
        "wander_p50_ns": round(float(numpy.quantile(wander, 0.5))),
        "wander_p99_ns": round(float(numpy.quantile(wander, 0.99))),
    }

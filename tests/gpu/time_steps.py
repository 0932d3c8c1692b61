"""Steps about times: lengths of kernels, the clock, and what recording costs."""

from __future__ import annotations

import statistics
from typing import Any

from cuda_trace import KERNEL
from gpu_runs import Bench, Figures, check, need

ROUNDS = 3  # by turns; all steps together are to take less than eight minutes
LENGTH_ERROR = 0.02
GRAIN_NS = 2000  # of the GPU's clock, and of a kernel's way in and out
DRIFT_SECONDS = 60
THREADS = (1, 4, 16)


def lengths_and_clock(bench: Bench) -> Figures:
    """Kernels last what they were told; waiting ends after them, by the same span all along."""
    run = bench.record("driver_spins.py", str(DRIFT_SECONDS))
    kernels = sorted(run.work(KERNEL), key=lambda row: row["start_ns"])
    wanted = run.said["lengths_ns"]
    check(len(kernels) == len(wanted), f"{len(kernels)} of {len(wanted)} kernels")
    by_length: dict[int, list[int]] = {}
    for row, length_ns in zip(kernels, wanted, strict=True):
        by_length.setdefault(length_ns, []).append(row["duration_ns"])
    medians = {length: statistics.median(found) for length, found in by_length.items()}
    for length_ns, median in medians.items():
        allowed = max(LENGTH_ERROR * length_ns, GRAIN_NS)
        check(abs(median - length_ns) <= allowed, f"{length_ns} ns were recorded as {median} ns")
    syncs = [c for c in run.calls().values() if c["name"].startswith("cuStreamSynchronize")]
    ends = sorted(call["end_ns"] for call in syncs)
    check(len(ends) == len(kernels), f"{len(ends)} calls that wait")
    lag = [end - row["end_ns"] for end, row in zip(ends, kernels, strict=True)]
    check(min(lag) >= -5000, f"a wait ended {-min(lag)} ns before its kernel")
    short = lag[: run.said["short"]]
    third = len(short) // 3
    drift = statistics.median(short[-third:]) - statistics.median(short[:third])
    check(abs(drift) < 2000, f"the clocks drift by {drift} ns in {DRIFT_SECONDS} s")
    return {
        "medians_ns": medians,
        "wait_after_kernel_ns": statistics.median(lag),
        "drift_ns": drift,
    }


def cost_of_calls(bench: Bench) -> Figures:
    """CPU time of calls: plain, without CUDA, callbacks, activities, both, and both with the
    kernels of graphs. No bound: figures."""
    ways: dict[str, tuple[str, ...] | None] = {
        "plain": None,
        "off": ("--cuda", "off"),
        "callbacks": ("--cuda-parts", "calls"),
        "activities": ("--cuda-parts", "work"),
        "both": (),
        "both-node": ("--cuda-graph-trace", "node"),
    }
    found: dict[str, list[Figures]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, prof in ways.items():
            said = (
                bench.plain("driver_calls.py")
                if prof is None
                else bench.record("driver_calls.py", prof=prof).said
            )
            found[way].append(said)
    return {
        name: {way: round(_median(rows, name), 1) for way, rows in found.items()}
        for name in _calls(found["plain"][0])
    }


def cost_of_threads(bench: Bench) -> Figures:
    """The same plain and with both, by several threads at once. No bound: figures."""
    figures: Figures = {}
    for threads in THREADS:
        plain = bench.plain("driver_calls.py", str(threads))
        both = bench.record("driver_calls.py", str(threads)).said
        figures[f"{threads} threads"] = {
            name: {"plain": round(plain[name], 1), "both": round(both[name], 1)}
            for name in _calls(plain)
        }
    return figures


def _calls(said: Figures) -> list[str]:
    return [name for name in said if name.startswith("cu")]


def cost_of_training(bench: Bench, program: str, updates: int) -> Figures:
    """A training loop plain and under rls-prof, by turns: CPU and wall per update. No bound."""
    need("torch")
    plain, recorded = [], []
    for _ in range(ROUNDS):
        plain.append(bench.plain(program, str(updates)))
        recorded.append(bench.record(program, str(updates)).said)
    figures: Figures = {}
    for name in ("cpu_ns", "wall_ns"):
        ratios = [after[name] / before[name] for before, after in zip(plain, recorded, strict=True)]
        figures[name.removesuffix("_ns")] = {
            "plain_us_per_update": round(_median(plain, name) / updates / 1e3, 1),
            "ratio": round(statistics.median(ratios), 4),
            "ratios": [round(ratio, 4) for ratio in ratios],
        }
    return figures


def _median(rows: list[Any], name: str) -> float:
    return statistics.median(float(row[name]) for row in rows)

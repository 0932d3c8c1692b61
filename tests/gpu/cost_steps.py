"""Steps about what recording costs: against nothing, and against PyTorch's profiler (Kineto).

CUPTI leaves some of its cost behind in a process that it was used in. So the plain one is a
process of its own, and plain, ours and Kineto's take turns. The parts of ours are measured by turns
in one process.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpu_runs import Bench, Figures, Skip, check, need, need_tool

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from paired import median_interval  # noqa: E402

OF_KINETO = 0.5
ROUNDS = {False: 15, True: 60}  # of turns in a process
PROCESSES = {False: 4, True: 15}
IN_PROCESS = "4"  # rounds of a process that has one way
ITERATIONS = "300"
PARTS = ("callbacks", "activities", "both", "node", "closed")


def calls(bench: Bench) -> Figures:
    """What a CUDA call costs more than plain, with ours and with Kineto; and each part of ours."""
    need_tool("cc")
    library = str(bench.compile("calls.c", "-shared", "-fPIC"))
    turns = bench.record("call_turns.py", library, str(ROUNDS[bench.patient]), "none", *PARTS).said
    parts = {name: added(of, PARTS) for name, of in turns["cpu_ns"].items()}
    ways: dict[str, Callable[[], Figures]] = {
        "plain": lambda: bench.plain("call_turns.py", library, IN_PROCESS, "plain"),
        "ours": lambda: bench.record("call_turns.py", library, IN_PROCESS, "plain").said,
    }
    try:
        need("torch")
        ways["kineto"] = lambda: bench.plain("call_turns.py", library, IN_PROCESS, "none", "kineto")
    except Skip as skip:
        parts["kineto"] = {"skipped": str(skip)}
    found = by_processes(ways, PROCESSES[bench.patient])
    medians = {way: [medians_of(said, way) for said in rows] for way, rows in found.items()}
    names = list(medians["plain"][0])
    figures = {
        name: {
            "plain_ns": statistics.median(row[name] for row in medians["plain"]),
            **{
                way: interval(paired(medians[way], medians["plain"], name))
                for way in ways
                if way != "plain"
            },
        }
        for name in names
    }
    if "kineto" in ways:
        figures["of_kineto"] = share_of_kineto(figures, [n for n in names if n.startswith("cu")])
        share = figures["of_kineto"]["median"]
        check(share <= OF_KINETO, f"{share} of what Kineto costs", figures | {"parts": parts})
    return figures | {"parts": parts}


def by_processes(ways: dict[str, Callable[[], Figures]], rounds: int) -> dict[str, list[Figures]]:
    """Each way is a process of its own; they take turns."""
    found: dict[str, list[Figures]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            found[way].append(run())
    return found


def medians_of(said: Figures, way: str) -> dict[str, float]:
    """The median CPU time of each call of one process, in nanoseconds."""
    measured = "kineto" if way == "kineto" else "plain"
    return {name: statistics.median(of[measured]) for name, of in said["cpu_ns"].items()}


def paired(rows: Sequence[Figures], plain: Sequence[Figures], name: str) -> list[float]:
    return [row[name] - bare[name] for row, bare in zip(rows, plain, strict=True)]


def share_of_kineto(figures: Figures, names: list[str]) -> Figures:
    """Ours of what Kineto adds to a call, where that is more than nothing."""
    shares = {
        name: round(figures[name]["ours"]["median"] / figures[name]["kineto"]["median"], 3)
        for name in names
        if figures[name]["kineto"]["median"] > 0
    }
    return {**shares, "median": round(statistics.median(shares.values()), 3)}


def added(spent: dict[str, list[float]], ways: Sequence[str]) -> Figures:
    """What each way takes more than none in the same round: median and 95 % interval, ns."""
    bare = spent["none"]
    rows = {way: [a - b for a, b in zip(spent[way], bare, strict=True)] for way in ways}
    return {
        "none_ns": round(statistics.median(bare), 1),
        **{way: interval(row) for way, row in rows.items()},
    }


def interval(values: list[float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in median_interval(values).items()}


def training(bench: Bench) -> Figures:
    """What a training loop costs more than plain, in per cent: all, without CUDA, and Kineto."""
    need("torch")
    steady = ("learner.py", "--iterations", ITERATIONS, "--steady")
    ways: dict[str, Callable[[], Figures]] = {
        "plain": lambda: bench.plain(*steady, "as-it-is"),
        "all": lambda: bench.record(*steady, "as-it-is").said,
        "without-cuda": lambda: bench.record(*steady, "as-it-is", prof=("--cuda", "off")).said,
        "kineto": lambda: bench.plain(*steady, "kineto"),
    }
    found = by_processes(ways, PROCESSES[bench.patient])
    figures: Figures = {
        clock.removesuffix("_ns"): of_plain(found, clock) for clock in ("cpu_ns", "wall_ns")
    }
    check("kineto" in figures["cpu"], "no figures")
    return figures


def of_plain(found: dict[str, list[Figures]], clock: str) -> Figures:
    """In per cent of the plain process of the same round, by the medians over its iterations."""
    spent = {way: [per_iteration(said, clock) for said in rows] for way, rows in found.items()}
    plain = spent.pop("plain")
    return {
        "plain_us": round(statistics.median(plain) / 1e3, 1),
        **{way: interval(percent(values, plain)) for way, values in spent.items()},
    }


def per_iteration(said: Figures, clock: str) -> float:
    run = said["steady"]
    if clock == "wall_ns":
        return statistics.median(run["each_ns"])
    return float(run[clock]) / float(run["iterations"])


def percent(values: list[Any], bare: list[Any]) -> list[float]:
    return [100.0 * (value / base - 1.0) for value, base in zip(values, bare, strict=True)]

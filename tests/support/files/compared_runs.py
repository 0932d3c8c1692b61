"""Runs of two operations, made by hand, as a comparison takes them."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from rlscope.compare.measured import Measured
from rlscope.compare.readings import BLOCKS, STEPS, Histogram

ITERATIONS, ENTRIES = 100, 40
SHORT_NS, LONG_NS = 2_000, 400_000
OPERATIONS = {"inference": 30_000, "simulation": 50_000}


def measured(generator: Generator, *, slower: float, long_part: float) -> Measured:
    """A run of two operations. A part of the entries into inference are long, and only these are
    slower."""
    times = {
        name: ns * generator.lognormal(0, 0.02, (ITERATIONS, ENTRIES))
        for name, ns in OPERATIONS.items()
    }
    is_long = np.arange(ENTRIES) < long_part * ENTRIES
    if is_long.any():
        spread = generator.lognormal(0, 0.02, (ITERATIONS, ENTRIES))
        times["inference"] = spread * np.where(is_long, LONG_NS * slower, SHORT_NS)
    else:
        times["inference"] *= slower
    sums = {name: of.sum(axis=1) for name, of in times.items()}
    return Measured(
        directory="run",
        facts={"program": "python train.py"},
        loop_ns=int(sum(each.sum() for each in sums.values())),
        run_ns=10**9,
        iterations=ITERATIONS,
        states={(name, "python"): int(each.sum()) for name, each in sums.items()},
        corrected={},
        series={(name, "python"): each for name, each in sums.items()},
        entries=dict.fromkeys(OPERATIONS, float(ENTRIES)),
        entry_times={name: histogram(of) for name, of in times.items()},
    )


def histogram(times: np.ndarray) -> Histogram:
    found: dict[tuple[int, int], int] = {}
    for block, part in enumerate(np.array_split(times, BLOCKS)):
        for step in np.floor(STEPS * np.log(part)).astype(int).ravel():
            found[block, int(step)] = found.get((block, int(step)), 0) + 1
    return found

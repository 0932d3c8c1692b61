"""Comparisons of runs made by hand, of which one operation is known to be slower."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import comparison
from rlscope.compare.measured import Measured
from rlscope.compare.readings import BLOCKS, STEPS, Histogram
from rlscope.compare.renderers.text import render

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


@pytest.mark.parametrize(
    "long_part",
    [0.0, 0.5, 0.1],  # entries are alike; half of them, or a few, take nearly all of the time
)
def test_what_became_slower_is_told_whichever_entries_it_is_in(long_part: float) -> None:
    generator = default_rng(7)
    base, new = (
        [measured(generator, slower=slower, long_part=long_part) for _ in range(3)]
        for slower in (1.0, 1.1)
    )
    found = comparison.compare(base, new)
    first = found.operations[0]
    assert (first.name, first.verdict) == ("inference", Verdict.SLOWER)
    assert first.difference is not None
    assert first.difference.change == pytest.approx(0.1, abs=0.02)
    assert found.loop.verdict == Verdict.SLOWER


@pytest.mark.parametrize("long_part", [0.0, 0.5, 0.1])
def test_equal_runs_are_not_told_apart(long_part: float) -> None:
    generator = default_rng(8)
    runs = [measured(generator, slower=1.0, long_part=long_part) for _ in range(6)]
    found = comparison.compare(runs[:3], runs[3:])
    rows = [found.loop, found.mean_loop, *found.operations]
    assert {row.verdict for row in rows} == {Verdict.NO_DIFFERENCE_TOLD}


def test_long_names_leave_room_for_what_is_told() -> None:
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::" + 20 * "functor" + ">"
    runs = [
        replace(measured(default_rng(9), slower=1.0, long_part=0.0), kernels={name: kernel_ns})
        for kernel_ns in (10_000_000, 20_000_000)
    ]
    text = render(comparison.compare(runs[:1], runs[1:]), None, width=100, unicode=True)
    head, row, *_ = text[text.index("kernel ") :].splitlines()
    assert head.split()[:5] == ["kernel", "base", "new", "change", "verdict"]
    assert all(said in row for said in ("100 µs", "200 µs", "+100.0 %", "slower"))
    assert all(len(line) <= 100 for line in text.splitlines())

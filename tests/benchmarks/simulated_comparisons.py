"""How often `rlscope diff` is right, on simulated runs whose truth is known.

Runs differ by a factor of their own, and each operation of a run by another. Iterations are
correlated. In bursts, the machine disturbs some iterations in a row. A machine that drifts slows
all operations of a run alike, from one run to the next and inside of them.
`python tests/benchmarks/simulated_comparisons.py` prints the table of differences.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import comparison
from rlscope.compare.comparison import Comparison
from rlscope.compare.measured import Measured
from rlscope.compare.readings import BLOCKS, STEPS

SHARES = {"logging": 0.05, "simulation": 0.4, "inference": 0.25, "learning": 0.3}
PLANTED = "simulation"
ITERATIONS = 200
ITERATION_NS = 10_000_000
SIZES = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class Machine:
    """Standard deviations of logarithms."""

    of_run: float
    of_operation: float
    correlation: float
    """How an iteration is like the one before."""
    of_iteration: float
    bursts: float
    """Share of the iterations at which one begins."""
    drift: float = 0.0
    """From the begin of a run to its end, of all operations alike."""


MACHINES = {
    "quiet": Machine(0.003, 0.002, 0.5, 0.03, 0.0),
    "other memory in each run": Machine(0.01, 0.01, 0.5, 0.03, 0.0),
    "shared": Machine(0.005, 0.005, 0.8, 0.03, 0.005),
    "drifts": Machine(0.1, 0.003, 0.8, 0.03, 0.005, drift=0.1),
    "drifts, other memory": Machine(0.1, 0.01, 0.8, 0.03, 0.005, drift=0.1),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200, help="comparisons of each kind (200)")
    parser.add_argument("--machine", choices=MACHINES, action="append", help="all of them")
    options = parser.parse_args()
    print("| machine | runs | equal: nothing told | covered | 5 % told | first | 2 % told |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in options.machine or MACHINES:
        for runs in SIZES:
            cells = figures(default_rng(runs), MACHINES[name], runs, options.trials)
            print(
                f"| {name} | {runs} | {' | '.join(f'{each:.1%}' for each in cells)} |", flush=True
            )
    return 0


def figures(generator: Generator, machine: Machine, runs: int, trials: int) -> list[float]:
    """Parts of the trials: nothing told of equals, the loop's interval holds 0, and what was
    planted told and first."""
    counts = np.zeros(5)
    for _ in range(trials):
        equal, slower, little = (
            _compared(generator, machine, runs, slow) for slow in (0.0, 0.05, 0.02)
        )
        loop = equal.loop.difference
        assert loop is not None
        counts += (
            _is_silent(equal),
            loop.low <= 0 <= loop.high,
            _is_told(slower),
            slower.operations[0].name == PLANTED,
            _is_told(little),
        )
    return list(counts / trials)


def _is_silent(found: Comparison) -> bool:
    rows = (found.loop, found.mean_loop, *found.operations)
    return all(row.verdict == Verdict.NO_CLEAR_DIFFERENCE for row in rows)


def _is_told(found: Comparison) -> bool:
    (row,) = [row for row in found.operations if row.name == PLANTED]
    return row.verdict == Verdict.SLOWER


def _compared(generator: Generator, machine: Machine, runs: int, slow: float) -> Comparison:
    base = [_measured(_run(generator, machine, 0.0)) for _ in range(runs)]
    new = [_measured(_run(generator, machine, slow)) for _ in range(runs)]
    return comparison.compare(base, new)


def _run(generator: Generator, machine: Machine, slow: float) -> NDArray[np.float64]:
    """Nanoseconds, operations x iterations."""
    noise = generator.normal(size=ITERATIONS) * machine.of_iteration
    noise[1:] *= np.sqrt(1 - machine.correlation**2)
    for place in range(1, ITERATIONS):
        noise[place] += machine.correlation * noise[place - 1]
    for begin in np.flatnonzero(generator.random(ITERATIONS) < machine.bursts):
        noise[begin : begin + generator.integers(3, 20)] += generator.uniform(0.1, 0.5)
    noise += generator.normal() * machine.of_run
    noise += np.cumsum(generator.normal(size=ITERATIONS)) * machine.drift / np.sqrt(ITERATIONS)
    own = generator.normal(size=(len(SHARES), 1)) * machine.of_operation
    own = own + generator.normal(size=(len(SHARES), ITERATIONS)) * 0.03
    own[list(SHARES).index(PLANTED)] += np.log1p(slow)
    return ITERATION_NS * np.array([*SHARES.values()])[:, None] * np.exp(noise + own)


def _measured(times: NDArray[np.float64]) -> Measured:
    """A run whose operations have one entry in each iteration."""
    named = dict(zip(SHARES, times, strict=True))
    blocks = BLOCKS * np.arange(ITERATIONS) // ITERATIONS
    return Measured(
        directory="run",
        facts={"program": "python train.py"},
        loop_ns=int(times.sum()),
        run_ns=int(times.sum()),
        iterations=ITERATIONS,
        states={(name, "python"): int(of.sum()) for name, of in named.items()},
        corrected={},
        series={(name, "python"): of for name, of in named.items()},
        entries=dict.fromkeys(SHARES, 1.0),
        entry_times={name: _histogram(of, blocks) for name, of in named.items()},
    )


def _histogram(times: NDArray[np.float64], blocks: NDArray[np.int64]) -> dict[tuple[int, int], int]:
    steps = np.floor(STEPS * np.log(times)).astype(int)
    pairs, counts = np.unique(np.array([blocks, steps]), axis=1, return_counts=True)
    return {
        (int(block), int(step)): int(count)
        for block, step, count in zip(*pairs, counts, strict=True)
    }


if __name__ == "__main__":
    sys.exit(main())

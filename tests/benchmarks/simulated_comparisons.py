"""How often the statistics of `rlscope diff` are right, on simulated runs whose truth is known.

Runs differ by a factor of their own, and each operation of a run by another. Iterations are
correlated. In bursts, the machine disturbs some iterations in a row.
`python tests/benchmarks/simulated_comparisons.py` prints the table of differences.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import differences, readings
from rlscope.compare.differences import Difference

SHARES = (0.05, 0.4, 0.25, 0.3)
PLANTED = 1
ITERATIONS = 200
TRIALS = 200


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


MACHINES = {
    "quiet": Machine(0.003, 0.002, 0.5, 0.03, 0.0),
    "other memory in each run": Machine(0.01, 0.01, 0.5, 0.03, 0.0),
    "shared": Machine(0.005, 0.005, 0.8, 0.03, 0.005),
}


def main() -> int:
    print("| machine | runs | equal: nothing told | covered | 5 % told | first | 2 % told |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, machine in MACHINES.items():
        for runs in (1, 2, 3, 5, 10):
            cells = _figures(default_rng(runs), machine, runs)
            print(
                f"| {name} | {runs} | {' | '.join(f'{each:.1%}' for each in cells)} |", flush=True
            )
    return 0


def _figures(generator: Generator, machine: Machine, runs: int) -> list[float]:
    counts = np.zeros(5)
    for _ in range(TRIALS):
        loop, *parts = _compared(generator, machine, runs, 0.0)
        told = [each.verdict != Verdict.NO_DIFFERENCE_TOLD for each in (loop, *parts)]
        slower = _compared(generator, machine, runs, 0.05)[1:]
        little = _compared(generator, machine, runs, 0.02)[1:]
        first = max(range(len(slower)), key=lambda place: slower[place].low)
        counts += (
            not any(told),
            loop.low <= 0 <= loop.high,
            slower[PLANTED].verdict == Verdict.SLOWER,
            first == PLANTED,
            little[PLANTED].verdict == Verdict.SLOWER,
        )
    return list(counts / TRIALS)


def _compared(generator: Generator, machine: Machine, runs: int, slow: float) -> list[Difference]:
    """The loop, and each operation."""
    base = [_run(generator, machine, 0.0) for _ in range(runs)]
    new = [_run(generator, machine, slow) for _ in range(runs)]
    whole = [[readings.of_series(run.sum(axis=0)) for run in side] for side in (base, new)]
    found = [differences.compare(*whole, doubt=difference_verdicts.LOOP_DOUBT)]
    for place, share in enumerate(SHARES):
        sides = [[readings.of_series(run[place]) for run in side] for side in (base, new)]
        doubt = share * difference_verdicts.PARTS_DOUBT
        found.append(differences.compare(*sides, doubt=doubt))
    return found


def _run(generator: Generator, machine: Machine, slow: float) -> NDArray[np.float64]:
    """Operations x iterations."""
    noise = generator.normal(size=ITERATIONS) * machine.of_iteration
    noise[1:] *= np.sqrt(1 - machine.correlation**2)
    for place in range(1, ITERATIONS):
        noise[place] += machine.correlation * noise[place - 1]
    for begin in np.flatnonzero(generator.random(ITERATIONS) < machine.bursts):
        noise[begin : begin + generator.integers(3, 20)] += generator.uniform(0.1, 0.5)
    noise += generator.normal() * machine.of_run
    own = generator.normal(size=(len(SHARES), 1)) * machine.of_operation
    own = own + generator.normal(size=(len(SHARES), ITERATIONS)) * 0.03
    own[PLANTED] += np.log1p(slow)
    return np.array(SHARES)[:, None] * np.exp(noise + own)


if __name__ == "__main__":
    sys.exit(main())

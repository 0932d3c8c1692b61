"""How often `rlscope diff` tells what is so: recorded runs of one program, plain and with a planted
slow-down, drawn into many comparisons.

`python tests/benchmarks/comparisons.py DIR` records what is not in DIR yet, in turns, and prints
the table of docs/reference/differences.md. The runs stay in DIR: the same command compares them
again, and `--only compare` records none.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import comparison, measured
from rlscope.compare.comparison import Comparison
from rlscope.compare.measured import Measured
from rlscope.opening import load

PROGRAMS = Path(__file__).parent / "programs"
PLANTED = "collect/simulation"
KINDS = {"plain": 0.0, "again": 0.0, "2 %": 0.02, "5 %": 0.05}
SIZES = (1, 3, 5, 10)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
COLUMNS = (
    "runs a side", "equal: nothing told", "2 % named first", "5 % named first",
    "of these by the rest", "another one named first", "planted change covered",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--pairs", type=int, default=20, help="comparisons of each size (20)")
    parser.add_argument("--iterations", type=int, default=200, help="of each run (200)")
    parser.add_argument("--only", choices=("record", "compare"), help="do this alone")
    parser.add_argument(
        "--program", default="three_operations", choices=("three_operations", "mixed_operations")
    )
    options = parser.parse_args()
    if options.only != "compare":
        program = [str(PROGRAMS / f"{options.program}.py"), "--iterations", str(options.iterations)]
        _record(options.folder, options.runs, program)
    if options.only != "record":
        _print_table(options.folder, options.runs, options.pairs)
    return 0


def _print_table(folder: Path, count: int, pairs: int) -> None:
    runs = {kind: _read(folder, kind, count) for kind in KINDS}
    print(f"| {' | '.join(COLUMNS)} |")
    print(f"|{'---:|' * len(COLUMNS)}")
    for size in SIZES:
        if size <= count:
            print(f"| {size} | {' | '.join(_figures(runs, size, pairs))} |", flush=True)


def _directory(folder: Path, kind: str, number: int) -> Path:
    return folder / f"{kind.replace(' %', '')}-{number:02d}"


def _record(folder: Path, runs: int, program: Sequence[str]) -> None:
    """In turns, so that a change of the machine meets all kinds."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    for number in range(runs):
        for kind, slow in KINDS.items():
            directory = _directory(folder, kind, number)
            if not directory.exists():
                recorder = [sys.executable, "-m", "rlscope", "prof", "--no-report"]
                traced = [sys.executable, *program, "--slow", str(slow)]
                subprocess.run(
                    [*recorder, "-o", str(directory), *traced],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    env=environment,
                )


def _read(folder: Path, kind: str, runs: int) -> list[Measured]:
    found = []
    for number in range(runs):
        with load(_directory(folder, kind, number)) as trace:
            found.append(measured.read(trace))
    return found


def _figures(runs: dict[str, list[Measured]], size: int, pairs: int) -> list[str]:
    """Counts of `pairs` comparisons of `size` runs a side, under COLUMNS after the first."""
    generator = random.Random(size)
    same = [*runs["plain"], *runs["again"]]
    alike = [_halves(generator.sample(same, 2 * size)) for _ in range(pairs)]
    planted = {
        kind: [
            comparison.compare(
                generator.sample(runs["plain"], size), generator.sample(runs[kind], size)
            )
            for _ in range(pairs)
        ]
        for kind in ("2 %", "5 %")
    }
    every = [each for found in planted.values() for each in found]
    covered = sum(_covers(kind)(each) for kind, found in planted.items() for each in found)
    counts = [
        (sum(map(_is_silent, alike)), pairs),
        *((sum(map(_finds, found)), pairs) for found in planted.values()),
        (sum(map(_finds_by_rest, every)), sum(map(_finds, every))),
        (sum(map(_misleads, every)), len(every)),
        (covered, len(every)),
    ]
    return [f"{count} of {of}" for count, of in counts]


def _halves(chosen: Sequence[Measured]) -> Comparison:
    middle = len(chosen) // 2
    return comparison.compare(chosen[:middle], chosen[middle:])


def _is_silent(found: Comparison) -> bool:
    rows = (found.loop, found.mean_loop, *found.operations)
    return all(row.verdict == Verdict.NO_CLEAR_DIFFERENCE for row in rows)


def _finds(found: Comparison) -> bool:
    first = found.operations[0]
    return first.name == PLANTED and first.verdict == Verdict.SLOWER


def _finds_by_rest(found: Comparison) -> bool:
    """Whether the operation's own time does not tell it."""
    return _finds(found) and found.operations[0].own_verdict == Verdict.NO_CLEAR_DIFFERENCE


def _misleads(found: Comparison) -> bool:
    """Whether what is told first is not what was planted."""
    first = found.operations[0]
    return first.verdict != Verdict.NO_CLEAR_DIFFERENCE and not _finds(found)


def _covers(kind: str) -> Callable[[Comparison], bool]:
    def covers(found: Comparison) -> bool:
        (row,) = [row for row in found.operations if row.name == PLANTED]
        difference = row.relative.difference if row.relative else row.difference
        assert difference is not None
        return difference.low <= KINDS[kind] <= difference.high

    return covers


if __name__ == "__main__":
    sys.exit(main())

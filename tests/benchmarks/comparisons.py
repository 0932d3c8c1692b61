"""How often `rlscope diff` tells what is so: recorded runs of one program, plain and with a planted
slow-down, drawn into many comparisons.

`python tests/benchmarks/comparisons.py DIR` records what is not in DIR yet, in turns.
docs/reference/differences.md has the figures.
"""

from __future__ import annotations

import argparse
import json
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

PROGRAM = Path(__file__).parent / "programs" / "three_operations.py"
PLANTED = "collect/simulation"
KINDS = {"plain": 0.0, "again": 0.0, "2 %": 0.02, "5 %": 0.05}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--pairs", type=int, default=20, help="comparisons of each size (20)")
    options = parser.parse_args()
    _record(options.folder, options.runs)
    runs = {kind: _read(options.folder, kind, options.runs) for kind in KINDS}
    for size in (1, 3, 5, 10):
        print(json.dumps(_figures(runs, size, options.pairs)), flush=True)
    return 0


def _directory(folder: Path, kind: str, number: int) -> Path:
    return folder / f"{kind.replace(' %', '')}-{number:02d}"


def _record(folder: Path, runs: int) -> None:
    """In turns, so that a change of the machine meets all kinds."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(runs):
        for kind, slow in KINDS.items():
            directory = _directory(folder, kind, number)
            if not directory.exists():
                recorder = [sys.executable, "-m", "rlscope", "prof", "--no-report"]
                program = [sys.executable, str(PROGRAM), "--slow", str(slow)]
                command = [*recorder, "-o", str(directory), *program]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _read(folder: Path, kind: str, runs: int) -> list[Measured]:
    found = []
    for number in range(runs):
        with load(_directory(folder, kind, number)) as trace:
            found.append(measured.read(trace))
    return found


def _figures(runs: dict[str, list[Measured]], size: int, pairs: int) -> dict[str, object]:
    """Counts of `pairs` comparisons of `size` runs a side."""
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
    return {
        "runs a side": size,
        "comparisons": pairs,
        "no difference between equals": sum(map(_is_silent, alike)),
        **{f"{kind} found first": sum(map(_finds, found)) for kind, found in planted.items()},
        **{f"{kind} covered": sum(map(_covers(kind), found)) for kind, found in planted.items()},
    }


def _halves(chosen: Sequence[Measured]) -> Comparison:
    middle = len(chosen) // 2
    return comparison.compare(chosen[:middle], chosen[middle:])


def _is_silent(found: Comparison) -> bool:
    rows = (found.loop, found.mean_loop, *found.operations)
    return all(row.verdict == Verdict.NO_DIFFERENCE_TOLD for row in rows)


def _finds(found: Comparison) -> bool:
    first = found.operations[0]
    return first.name == PLANTED and first.verdict == Verdict.SLOWER


def _covers(kind: str) -> Callable[[Comparison], bool]:
    def covers(found: Comparison) -> bool:
        (row,) = [row for row in found.operations if row.name == PLANTED]
        assert row.difference is not None
        return row.difference.low <= KINDS[kind] <= row.difference.high

    return covers


if __name__ == "__main__":
    sys.exit(main())

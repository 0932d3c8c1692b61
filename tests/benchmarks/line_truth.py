"""Source lines against stopwatches inside of the program, over many lines of known times.

    python tests/benchmarks/line_truth.py [--programs 14] [--seconds 10] [--output FILE]

Each program has ten lines of several kinds: spins, native calls, sleeps, nested helpers, recursion,
generators, coroutines, callbacks from C, threads that are waited for. Of the lines with at least 5 %
of a run, the 95 % interval must hold what the line's own stopwatch took, in 95 of 100.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from support.process.busy_lines import (  # noqa: E402
    KINDS,
    Busy,
    make_program,
    read_lines,
    write_package,
)
from support.process.traced_python import (  # noqa: E402
    TracedPython,
    make_traced_python,
    untraced_environment,
)

LEAST_SHARE = 0.05
TARGET = 0.95
_LINES = 10


def run(traced: TracedPython, folder: Path, seconds: float, seed: int) -> list[Busy]:
    """The lines of one program that are large enough."""
    kinds = random.Random(seed).choices(list(KINDS), k=_LINES)
    script = folder / "train.py"
    environment = {**untraced_environment(), "PYTHONPATH": str(write_package(folder))}
    program = make_program(kinds, seconds, seed)
    directory = str(folder / f"run-{seed}")
    printed = traced.record(directory, script, program, env=environment, timeout=20 * seconds)
    found = read_lines(directory, script, kinds, printed)
    return [each for each in found if each.share >= LEAST_SHARE]


def show(lines: list[Busy]) -> None:
    """Each line that is outside of its interval, and what each kind has."""
    counts = Counter(each.kind for each in lines)
    inside = Counter(each.kind for each in lines if each.is_inside)
    for kind, count in sorted(counts.items()):
        of_kind = [each for each in lines if each.kind == kind]
        mean = sum(each.off for each in of_kind) / count
        print(f"{kind:22s} {inside[kind]:3d} of {count:3d} inside, off by {100 * mean:+.2f} points")
    for each in lines:
        if not each.is_inside:
            low, high = (100 * ns / each.whole_ns for ns in (each.low_ns, each.high_ns))
            print(
                f"outside: {each.kind}, {100 * each.share:.2f} %, said to be "
                f"{100 * each.own_ns / each.whole_ns:.2f} % [{low:.2f}, {high:.2f}]"
            )


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks/line_truth.json"))
    options = parser.parse_args()
    lines: list[Busy] = []
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-", dir=os.environ.get("TMPDIR")) as name:
        traced = make_traced_python(Path(name, "venv"))
        for seed in range(options.seed, options.seed + options.programs):
            lines += run(traced, Path(name), options.seconds, seed)
            inside = sum(each.is_inside for each in lines)
            print(f"{inside} of {len(lines)} lines are in their interval", flush=True)
    show(lines)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**vars(each), "inside": each.is_inside} for each in lines]
    options.output.write_text(json.dumps({"benchmark": "line_truth", "lines": rows}, indent=2))
    share = sum(each.is_inside for each in lines) / len(lines)
    print(f"{100 * share:.1f} % of {len(lines)} lines are in their interval; target {TARGET:.0%}")
    return int(share < TARGET)


if __name__ == "__main__":
    sys.exit(main())

"""What it adds to one CUDA call that its record names its stack of Python, on the simulated CUDA.

    python tests/benchmarks/call_sites.py [--turns N] [--calls N] [--output FILE]

In turns, in one process: the same call with its stack in the record and without, below 1, 20 and
100 frames of Python. The times are CPU time of the thread. The differences of one turn are paired,
and the median comes with a 95 % bootstrap interval.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from paired import median_interval, show_verdicts, verdict, write_result  # noqa: E402
from support.cuda.simcuda_runs import RUN, built  # noqa: E402

LIBRARY = ROOT / "rlscope" / "librlscope.so"
PROF = Path(sys.executable).parent / "rls-prof"
DEPTHS = 1, 20, 100
MOST_NS = 60.0
"""Below 20 frames: a launch takes 2 to 5 microseconds."""


def below(depth: int, measure: Any) -> Any:
    """Calls it below so many frames."""
    return measure() if depth == 1 else below(depth - 1, measure)


def take(library: str, turns: int, calls: int) -> None:
    """The traced process: prints the pairs of each depth, as JSON."""
    program = ctypes.CDLL(library)
    assert program.prepare()
    pair = ctypes.c_double(), ctypes.c_double()

    def measure() -> tuple[float, float]:
        program.measure(ctypes.c_long(calls), *map(ctypes.byref, pair))
        return pair[0].value, pair[1].value

    found: dict[int, list[tuple[float, float]]] = {depth: [] for depth in DEPTHS}
    for _ in range(turns):
        for depth, pairs in found.items():
            pairs.append(below(depth, measure))
    print(json.dumps(found))


def compiled(folder: Path) -> Path:
    library = folder / "program.so"
    links = [str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-ldl"]
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'csrc'}", "-o", str(library)]
    subprocess.run([*command, str(HERE / "call_sites_program.c"), *links], check=True)
    return library


def measured(turns: int, calls: int) -> dict[str, list[tuple[float, float]]]:
    built()
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as name:
        taking = ["--take", str(compiled(Path(name)))]
        sizes = ["--turns", str(turns), "--calls", str(calls)]
        program = [sys.executable, str(Path(__file__).resolve()), *taking, *sizes]
        prof = [str(PROF), "--quiet", "--no-report", "-o", f"{name}/run", "--", *program]
        command = [str(RUN), "--cuda", "13", "--", *prof]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, list[tuple[float, float]]] = json.loads(done.stdout)
        return found


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--output", default="build/benchmarks/call_sites.json")
    parser.add_argument("--take", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.take:
        take(options.take, options.turns, options.calls)
        return 0
    found = measured(options.turns, options.calls)
    result = {}
    for depth, pairs in found.items():
        added = median_interval([one - other for one, other in pairs])
        ratio = median_interval([one / other for one, other in pairs])
        result[depth] = {"added_ns": added, "ratio": ratio}
        print(f"{depth:>4} frames  +{added['median']:.1f} ns [{added['low']:.1f}, "
              f"{added['high']:.1f}]  {ratio['median']:.3f} x")  # fmt: skip
    rows = [verdict("20 frames", "ns", MOST_NS, result["20"]["added_ns"])]
    write_result(options.output, {"benchmark": "call_sites", "results": result, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())

"""What the recorder adds to one CUDA call, on the simulated CUDA.

    python tests/benchmarks/cuda_calls.py [--turns 300] [--calls 2000] [--output FILE]

In one process and in turns: cudaEventQuery() with nobody subscribed, with a CUPTI callback that
does nothing, with the recorder's callback, and with that while the window is closed. Ours is the
difference to the empty callback; what CUPTI itself costs is not known from a test double.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import median_interval, write_result  # noqa: E402
from simcuda_runs import RUN  # noqa: E402

ROOT = HERE.parents[1]
LIBRARY = ROOT / "rlscope" / "librlscope.so"
PROF = Path(sys.executable).parent / "rls-prof"


def compiled(folder: Path) -> Path:
    program = folder / "program"
    library = [str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-ldl"]
    source = str(HERE / "cuda_calls_program.c")
    subprocess.run(
        ["cc", "-O2", f"-I{ROOT / 'csrc'}", "-o", str(program), source, *library], check=True
    )
    return program


def measured(program: Path, folder: Path, turns: int, calls: int) -> dict[str, list[float]]:
    """Nanoseconds per call of each kind, by turn."""
    trace = str(folder / "trace")
    command = [str(PROF), "--quiet", "--no-report", "--sample-seconds", "0", "-o", trace]
    done = subprocess.run(
        [str(RUN), "--", *command, "--", str(program), str(turns), str(calls)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    kinds: dict[str, list[float]] = defaultdict(list)
    for line in done.stdout.splitlines():
        kind, value = line.split()
        kinds[kind].append(float(value))
    return kinds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--output", default="build/benchmarks/cuda_calls.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        kinds = measured(compiled(Path(name)), Path(name), options.turns, options.calls)
    clock = statistics.median(kinds["clock"])
    limits = {"recorded": 2 * clock + 20, "paused": 3.0}
    result = {}
    for kind, limit in limits.items():
        added = [ours - empty for ours, empty in zip(kinds[kind], kinds["empty"], strict=True)]
        result[kind] = {**median_interval(added), "limit": limit}
        print(f"{kind}: {result[kind]['median']:.1f} ns added to a call, limit {limit:.1f}")
    medians = {kind: statistics.median(values) for kind, values in kinds.items()}
    print("ns per call:", ", ".join(f"{kind} {value:.1f}" for kind, value in medians.items()))
    write_result(options.output, {"added": result, "ns": medians, "options": vars(options)})
    return int(any(row["median"] > row["limit"] for row in result.values()))


if __name__ == "__main__":
    sys.exit(main())

"""What the recorder adds to one CUDA call, on the simulated CUDA.

    python tests/benchmarks/cuda_calls.py [--processes N] [--turns N] [--calls N] [--output FILE]

In turns: cudaEventQuery() without a subscriber, with a CUPTI callback that does nothing, with the
recorder's callback, and with that while the window is closed. Ours is the difference to the empty
callback; what CUPTI itself costs is not known from a test double. Several processes: in each the
code lies elsewhere.

A turn counts where both of its stretches had the core to themselves, right before and right after:
beside a neighbour's hyperthread all takes up to twice as long, except the clock, which the limit is
made of. Where the core was shared nearly all the time, every turn counts, and the output says
so.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import (  # noqa: E402
    ENOUGH_ALONE,
    median_interval,
    show_verdicts,
    that_count,
    verdict,
    write_result,
)
from support.cuda.simcuda_runs import RUN  # noqa: E402

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


@dataclass(frozen=True)
class Stretch:
    """Some calls of one kind in a row."""

    ns: float
    own_core: bool


def measured(program: Path, folder: Path, turns: int, calls: int) -> dict[str, list[Stretch]]:
    """The stretches of each kind, one a turn, of one process."""
    trace = tempfile.mkdtemp(dir=folder)
    command = [str(PROF), "--quiet", "--no-report", "--sample-seconds", "0", "-o", trace]
    done = subprocess.run(
        [str(RUN), "--", *command, "--", str(program), str(turns), str(calls)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    kinds: dict[str, list[Stretch]] = defaultdict(list)
    for line in done.stdout.splitlines():
        kind, ns, own_core = line.split()
        kinds[kind].append(Stretch(float(ns), own_core == "1"))
    return kinds


def added(ours: list[Stretch], empty: list[Stretch]) -> tuple[list[float], bool]:
    """What ours take longer, of each turn that counts; and whether those had their own core."""
    pairs = list(zip(ours, empty, strict=True))
    counted, alone = that_count(pairs, lambda pair: pair[0].own_core and pair[1].own_core)
    return [one.ns - other.ns for one, other in counted], alone


def median_of(stretches: list[Stretch]) -> float:
    return statistics.median(
        [one.ns for one in stretches if one.own_core] or [one.ns for one in stretches]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--output", default="build/benchmarks/cuda_calls.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = compiled(Path(name))
        kinds: dict[str, list[Stretch]] = defaultdict(list)
        for _ in range(options.processes):
            for kind, stretches in measured(
                program, Path(name), options.turns, options.calls
            ).items():
                kinds[kind] += stretches
    medians = {kind: median_of(stretches) for kind, stretches in kinds.items()}
    limits = {"recorded": 2 * medians["clock"] + 20, "paused": 3.0}
    rows = []
    for kind, limit in limits.items():
        differences, alone = added(kinds[kind], kinds["empty"])
        row = verdict(f"{kind}, added to a call", "ns", limit, median_interval(differences))
        rows.append({**row, "own_core": alone})
        if not alone:
            print(f"{kind}: fewer than {ENOUGH_ALONE} turns had the core to themselves: all count")
    print("ns per call:", ", ".join(f"{kind} {value:.1f}" for kind, value in medians.items()))
    write_result(options.output, {"targets": rows, "ns": medians, "options": vars(options)})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())

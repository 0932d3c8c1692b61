"""Tables and report of runs with many processes: their time, memory, and what a second core gives.

    python tests/benchmarks/process_counts.py [--size 1000x1000 64x1000000] [--rounds 3]
        [--output FILE]

A size is processes x events. The traces are written by the core's own writer; a fresh process each
makes the tables and the page. `tables` is made on one core and on two, in turns.

    wall_s, cpu_s   medians over the rounds
    rss_mib         the most memory, mapped files included
    speedup         wall_s of the tables on one core by that on two
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402
from support.process import many_processes as traces  # noqa: E402

TARGETS = {
    "1000x1000": {"page_wall_s": 20, "rss_mib": 1024},
    "64x1000000": {"speedup": 1.8},
}
_TABLES = "import sys, rlscope; rlscope.load(sys.argv[1]).close()"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", nargs="+", default=list(TARGETS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", default="build/benchmarks/process_counts.json")
    options = parser.parse_args()
    results = {}
    for size in options.size:
        processes, events = map(int, size.split("x"))
        with tempfile.TemporaryDirectory(prefix="rlscope-many-") as folder:
            traces.write(Path(folder) / "run", processes, events)
            results[size] = measure_size(Path(folder) / "run", options.rounds)
        print(size, flush=True)
        for name, value in results[size].items():
            print(f"    {name:24} {value:12,.2f}", flush=True)
    write_result(options.output, {"targets": TARGETS, "sizes": results})
    return 0


def measure_size(trace: Path, rounds: int) -> dict[str, float]:
    """Medians over the rounds, the most of the memory."""
    cores = sorted(os.sched_getaffinity(0))
    tables = [sys.executable, "-c", _TABLES, str(trace)]
    page = [str(Path(sys.executable).with_name("rlscope")), "report", str(trace)]
    ways = {
        "one_core": (tables, cores[:1]),
        "two_cores": (tables, cores[:2]),
        "page": (page, cores),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (command, on) in ways.items():
            shutil.rmtree(trace / "tables", ignore_errors=True)
            found[name].append(measure(command, on))
    result = {
        f"{name}_{key}": median(run[key] for run in runs)
        for name, runs in found.items()
        for key in ("wall_s", "cpu_s")
    }
    result["speedup"] = result["one_core_wall_s"] / result["two_cores_wall_s"]
    result["rss_mib"] = max(run["rss_mib"] for run in found["page"])
    return result


def measure(command: Sequence[str], cores: Sequence[int]) -> dict[str, float]:
    """A command from its start to its end, on these cores alone."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return {
        "wall_s": time.monotonic() - start,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "rss_mib": usage.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    sys.exit(main())

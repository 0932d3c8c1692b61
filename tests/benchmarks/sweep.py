"""Builds and runs sweep.cc: the sweep against a textbook priority-queue sweep of the same events,
and against the process view in DuckDB and pandas (sweep_peers.py).

    python tests/benchmarks/sweep.py [--events 10000000] [--rounds 9] [--output sweep.json]
    python tests/benchmarks/sweep.py --large 100000000 --rounds 3

Seconds are CPU time of one thread. The forms take turns; a ratio is the median, over the rounds, of
the other's seconds over those of the sweep in the same round, with its 95 % bootstrap interval.
With `--large` two sizes take turns instead, and the ratio is that of their events per second.
`anonymous_kib` is the most memory beside the mapped file while it is swept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import sweep_peers
from paired import median_interval

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = [
    "analysis/librlscope_analysis.a",
    "trace/librlscope_trace_reader.a",
    "trace/librlscope_trace_writer.a",
    "base/librlscope_base.a",
]
FLAGS = ["-std=c++17", "-O3", "-g", "-fno-omit-frame-pointer", "-pthread"]
FORMS = (
    "process_view",
    "everything",
    "with_records",
    "file_process_view",
    "file_everything",
    "file_with_records",
)


def build(folder: Path) -> Path:
    """Builds the libraries as they are shipped and the benchmark over them; returns its path."""
    configure = ["cmake", "-S", ROOT / "csrc", "-B", folder, "-G", "Ninja"]
    subprocess.run([*configure, "-DRLSCOPE_PYTHON=OFF"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "rlscope_analysis"], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    program = folder / "sweep"
    machine = ["-msse4.2"] if platform.machine() in ("x86_64", "AMD64") else []
    source = ROOT / "tests" / "benchmarks" / "sweep.cc"
    command = ["c++", *FLAGS, *machine, f"-I{ROOT / 'csrc'}", source, "-o", program]
    subprocess.run([*command, *(folder / library for library in LIBRARIES)], check=True)
    return program


def run(program: Path, *arguments: object) -> dict[str, Any]:
    """What the benchmark program prints for these arguments."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def paired_ratio(others: list[float], own: list[float]) -> dict[str, float]:
    """How many times longer the others took, round by round."""
    return median_interval([other / mine for other, mine in zip(others, own, strict=True)])


def against_textbook(measured: dict[str, Any]) -> dict[str, Any]:
    """Medians, and how many times faster than the textbook each form is."""
    seconds = measured["seconds"]
    result: dict[str, Any] = {"textbook_seconds": median(seconds["textbook"])}
    for form in FORMS:
        result[f"{form}_seconds"] = median(seconds[form])
        result[f"{form}_million_events_per_second"] = (
            measured["events"] / 1e6 / median(seconds[form])
        )
        result[f"{form}_ratio"] = paired_ratio(seconds["textbook"], seconds[form])
    return result


def against_peers(folder: Path, measured: dict[str, Any], rounds: int) -> dict[str, float]:
    """Medians of DuckDB and pandas, and how many times faster the process view is."""
    states = {int(state): ns for state, ns in measured["states"].items()}
    result = sweep_peers.measure(folder, states, rounds)
    own = median(measured["seconds"]["process_view"])
    ratios = {f"{peer}_ratio": result[f"{peer}_seconds"] / own for peer in ("duckdb", "pandas")}
    return {**result, **ratios}


def compare(program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    measured = run(program, options.events, options.rounds, folder)
    result = {"events": measured["events"], "rounds": options.rounds}
    result |= against_textbook(measured)
    result |= run(program, folder / "sweep_benchmark.rls", measured["end_ns"])
    if options.peer_rounds > 0:
        result |= against_peers(folder, measured, options.peer_rounds)
    return result


def compare_sizes(program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Events per second of the large trace over those of the small one, by form."""
    measured = run(program, options.events, options.large, options.rounds, folder)
    small, large = measured["small"], measured["large"]
    growth = large["events"] / small["events"]
    result = {"events": small["events"], "large_events": large["events"], "rounds": options.rounds}
    for form in FORMS:
        expected = [seconds * growth for seconds in small["seconds"][form]]
        result[f"{form}_rate_ratio"] = paired_ratio(expected, large["seconds"][form])
        result[f"{form}_large_seconds"] = median(large["seconds"][form])
    return {**result, **run(program, folder / "sweep_large.rls", large["end_ns"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--large", type=int, help="compare with a trace of so many events")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peer-rounds", type=int, default=3, help="of DuckDB and pandas; 0: none")
    parser.add_argument("--build", type=Path, help="build folder to use again")
    parser.add_argument("--output", type=Path, help="JSON file; else standard output")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rlscope-sweep-") as scratch:
        program = build(options.build or Path(scratch) / "build")
        form = compare if options.large is None else compare_sizes
        result = form(program, Path(scratch), options)
    result |= {"machine": platform.machine(), "cores": os.cpu_count()}
    text = json.dumps(result, indent=2)
    print(text) if options.output is None else options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()

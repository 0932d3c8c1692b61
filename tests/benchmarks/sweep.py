"""Builds and runs sweep.cc: the sweep against a textbook priority-queue sweep of the same events,
and against the process view in DuckDB and pandas (sweep_peers.py).

    python tests/benchmarks/sweep.py [--events 10000000] [--repeats 5] [--output sweep.json]

Seconds are CPU time of one thread, medians of interleaved runs; ratios are the time of the other
over that of the sweep. `anonymous_kib` is the most memory beside the mapped file while it is swept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import sweep_peers

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = [
    "analysis/librlscope_analysis.a",
    "trace/librlscope_trace_reader.a",
    "trace/librlscope_trace_writer.a",
    "base/librlscope_base.a",
]
FLAGS = ["-std=c++17", "-O3", "-g", "-fno-omit-frame-pointer", "-pthread"]


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


def with_ratios(measured: dict[str, Any]) -> dict[str, Any]:
    """Adds million events per second, and how many times faster than the textbook each form is."""
    result = dict(measured)
    for name in ("process_view", "everything", "file_process_view", "file_everything"):
        seconds = measured[f"{name}_seconds"]
        result[f"{name}_million_events_per_second"] = measured["events"] / seconds / 1e6
        result[f"{name}_ratio"] = measured["textbook_seconds"] / seconds
    for peer in ("duckdb", "pandas"):
        result[f"{peer}_ratio"] = measured[f"{peer}_seconds"] / measured["process_view_seconds"]
    return {**result, "machine": platform.machine(), "cores": os.cpu_count()}


def run(program: Path, *arguments: object) -> dict[str, Any]:
    """What the benchmark program prints for these arguments."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--build", type=Path, help="build folder to use again")
    parser.add_argument("--output", type=Path, help="JSON file; else standard output")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rlscope-sweep-") as scratch:
        program = build(options.build or Path(scratch) / "build")
        measured = run(program, options.events, options.repeats, scratch)
        file = Path(scratch) / "sweep_benchmark.rls"
        measured |= run(program, file, measured.pop("end_ns"))
        states = {int(state): ns for state, ns in measured.pop("states").items()}
        measured |= sweep_peers.measure(Path(scratch), states, options.repeats)
    text = json.dumps(with_ratios(measured), indent=2)
    print(text) if options.output is None else options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()

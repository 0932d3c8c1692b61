"""Time and memory that the tables of a trace take, by the trace's size.

    python tests/benchmarks/tables.py [--events 10000000 200000000] [--rounds 3] [--output FILE]

Each size is recorded once: a program that does nothing but enter annotated operations. Then a fresh
process each makes the tables and prints the summary, and makes the relation `event` beside them.
Two more ask for the findings, and for nothing.

    cpu_s           CPU time of the process, all threads
    anonymous_mib   the most memory beside the mapped files, looked at every 10 ms
    ns_per_event    cpu_s by the events of the trace: the same for every size where time is linear
    advice_cpu_s    what the findings take beside the tables: `finding` without `nothing`
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402

PROGRAM = """
import sys
import rlscope as rls

step, inner = rls.operation("step"), rls.operation("inner")
for number in range(int(sys.argv[1]) // 2):
    if number % 1000 == 0:
        rls.iteration()
    with step, inner:
        pass
"""
TARGETS = {
    "anonymous_mib": 512,
    "summary_cpu_s_of_10_million": 5,
    "advice_cpu_s_of_10_million": 2,
}
EVENTS = "SELECT count(*), sum(duration_ns) FROM event"


def record(folder: Path, events: int) -> Path:
    """A trace of so many events, each an operation."""
    program, trace = folder / "program.py", folder / "trace"
    program.write_text(PROGRAM)
    shutil.rmtree(trace, ignore_errors=True)
    command = [rlscope("rls-prof"), "-o", str(trace), "--no-report", "--no-auto"]
    subprocess.run([*command, sys.executable, str(program), str(events)], check=True)
    return trace


def rlscope(script: str) -> str:
    return str(Path(sys.executable).with_name(script))


def measure(command: list[str]) -> dict[str, float]:
    """A command from its start to its end."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = 0
        while True:
            most = max(most, anonymous_kib(process.pid))
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.01)
        process.returncode = 0
    cpu_s = usage.ru_utime + usage.ru_stime
    return {"cpu_s": cpu_s, "wall_s": time.monotonic() - start, "anonymous_mib": most / 1024}


def anonymous_kib(pid: int) -> int:
    """Memory of a process that is no page of a file; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines)
    return sum(int(fields.get(name, "0 kB").split()[0]) for name in ("RssAnon", "RssShmem"))


def measure_size(events: int, rounds: int) -> dict[str, float]:
    """Medians over the rounds, the most of the memory."""
    with tempfile.TemporaryDirectory(prefix="rlscope-tables-") as folder:
        trace = record(Path(folder), events)
        of_files = sum(file.stat().st_size for file in trace.glob("trace/*")) / 2**20
        result = {"events": float(events), "trace_mib": of_files}
        commands = {
            "summary": [rlscope("rlscope"), "summary", str(trace)],
            "event": [rlscope("rlscope"), "query", str(trace), EVENTS],
            "finding": [rlscope("rlscope"), "query", str(trace), "SELECT count(*) FROM finding"],
            "nothing": [rlscope("rlscope"), "query", str(trace), "SELECT 1"],
        }
        found: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
        for _ in range(rounds):
            shutil.rmtree(trace / "tables", ignore_errors=True)
            for name, command in commands.items():
                found[name].append(measure(command))
        for name, runs in found.items():
            for key in ("cpu_s", "wall_s"):
                result[f"{name}_{key}"] = median(run[key] for run in runs)
            result[f"{name}_anonymous_mib"] = max(run["anonymous_mib"] for run in runs)
            result[f"{name}_ns_per_event"] = result[f"{name}_cpu_s"] / events * 1e9
        result["advice_cpu_s"] = result["finding_cpu_s"] - result["nothing_cpu_s"]
        size = sum(file.stat().st_size for file in trace.rglob("tables/**/*.parquet"))
        return {**result, "tables_mib": size / 2**20}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, nargs="+", default=[10_000_000, 200_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", default="build/benchmarks/tables.json")
    options = parser.parse_args()
    sizes = []
    for events in options.events:
        sizes.append(measure_size(events, options.rounds))
        print(f"{events:,} events", flush=True)
        for name, value in sizes[-1].items():
            print(f"    {name:24} {value:12,.2f}", flush=True)
    write_result(options.output, {"targets": TARGETS, "sizes": sizes})
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Idle and compute time of a GPU against HolisticTraceAnalysis's get_temporal_breakdown().

    python -m venv build/hta && build/hta/bin/pip install HolisticTraceAnalysis
    python tests/benchmarks/temporal_breakdown.py --hta build/hta/bin/python

Two things are compared on real traces: the numbers, on the rows as each tool has them and on the
peer's rows imported as a table of events, where they must be equal; and the time, of a trace that
is tiled to 200 MB and was read before the clock starts. Ours is that of the same four numbers from
relation `event`, with the trace open already and with opening it, and of the sweep that makes the
breakdown. They take turns.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from importing import tile

from rlscope import _trace
from rlscope.importing.directory import import_files
from rlscope.opening import load

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "kineto"
ROUNDS = 5

# The peer's four numbers: the union of intervals is the sum of what each adds to those that began
# before it. A kernel is computation unless its name is that of a collective, a copy or a
# synchronisation.
_NUMBERS = """
WITH work AS (
    SELECT start_ns, start_ns + duration_ns AS end_ns,
        kind = 'kernel' AND NOT regexp_matches(name, '^(nccl.*Kernel|Memset|dma)|Memcpy|Sync')
            AS computes
    FROM event WHERE kind IN ('kernel', 'memcpy', 'memset')
), marked AS (
    SELECT *,
        max(end_ns) OVER (ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS busy_until_ns,
        max(end_ns) FILTER (WHERE computes)
            OVER (ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS computes_until_ns
    FROM work
), sums AS (
    SELECT max(end_ns) - min(start_ns) AS total_ns,
        sum(greatest(end_ns - greatest(start_ns, coalesce(busy_until_ns, start_ns)), 0)) AS busy_ns,
        sum(greatest(end_ns - greatest(start_ns, coalesce(computes_until_ns, start_ns)), 0))
            FILTER (WHERE computes) AS compute_ns
    FROM marked
)
SELECT (total_ns - busy_ns)::BIGINT, compute_ns::BIGINT, (busy_ns - compute_ns)::BIGINT,
    total_ns::BIGINT
FROM sums
"""
_NAMES = ("idle", "compute", "non_compute", "total")

# Reads a trace, writes its rows of GPUs, then answers each line of stdin with seconds and numbers.
_THEIRS = """
import logging, sys, time
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
trace, names = analysis.t.get_trace(0), analysis.t.symbol_table.get_sym_table()
rows = trace[trace["stream"].ne(-1)]
with open(sys.argv[2], "w") as file:
    print("kind,name,start_ns,duration_ns,stream", file=file)
    for name, ts, dur, stream in zip(rows["name"], rows["ts"], rows["dur"], rows["stream"]):
        text = names[name].replace('"', '""')
        print(f'kernel,"{text}",{round(ts * 1000)},{round(dur * 1000)},{stream}', file=file)
print("ready", flush=True)
for _ in sys.stdin:
    begin = time.perf_counter()
    found = analysis.get_temporal_breakdown(visualize=False)
    spent = time.perf_counter() - begin
    (row,) = found.to_dict("records")
    numbers = [row[f"{name}_time(us)"] for name in ("idle", "compute", "non_compute", "kernel")]
    print(spent, *numbers, flush=True)
"""


class Peer:
    """A process with the peer, which has read one trace."""

    def __init__(self, python: str, trace: Path, rows: Path) -> None:
        command = [python, "-c", _THEIRS, str(trace), str(rows)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while self._line() != "ready":
            pass

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the peer ended")
        return line.strip()

    def breakdown(self) -> tuple[float, list[int]]:
        """Seconds, and the four numbers in nanoseconds."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        seconds, *numbers = (float(each) for each in self._line().split())
        return seconds, [round(each * 1000) for each in numbers]

    def close(self) -> None:
        self._process.communicate()


def ours(directory: Path) -> list[int]:
    """The four numbers in nanoseconds."""
    with load(directory) as trace:
        (row,) = trace.sql(_NUMBERS)
        return list(row)


def sweep(directory: Path) -> None:
    """The breakdown of the process, from its trace file."""
    parts = dict.fromkeys(("by_thread", "counts", "bookkeeping"), False)
    _trace.Directory(str(directory)).sweep(0, **parts)


def compare(python: str, golden: Path, folder: Path) -> dict[str, object] | None:
    """The numbers of a real trace by both; None: it has no GPU work."""
    trace = folder / golden.name
    trace.write_bytes(golden.read_bytes())
    import_files([str(trace)], str(folder / "own"), force=True)
    own = ours(folder / "own")
    if own[-1] is None:
        return None
    rows = folder / "rows.csv"
    peer = Peer(python, trace, rows)
    _, theirs = peer.breakdown()
    peer.close()
    import_files([str(rows)], str(folder / "same"), force=True)
    found = {"theirs": theirs, "own_rows": own, "their_rows": ours(folder / "same")}
    return {name: dict(zip(_NAMES, each, strict=True)) for name, each in found.items()}


def measure(python: str, folder: Path) -> dict[str, float]:
    """Medians in seconds."""
    file = folder / "tiled.json"
    tile(file)
    import_files([str(file)], str(folder / "tiled"), force=True)
    peer = Peer(python, file, folder / "rows.csv")
    spent: dict[str, list[float]] = {"theirs": [], "tables": [], "opened": [], "sweep": []}
    with load(folder / "tiled") as trace:
        list(trace.sql(_NUMBERS))  # makes relation event
        for _ in range(ROUNDS):
            spent["theirs"].append(peer.breakdown()[0])
            begin = time.perf_counter()
            list(trace.sql(_NUMBERS))
            spent["tables"].append(time.perf_counter() - begin)
            begin = time.perf_counter()
            ours(folder / "tiled")
            spent["opened"].append(time.perf_counter() - begin)
            begin = time.perf_counter()
            sweep(folder / "tiled")
            spent["sweep"].append(time.perf_counter() - begin)
    peer.close()
    return {name: statistics.median(each) for name, each in spent.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", metavar="FILE", help="results as JSON")
    parser.add_argument("--hta", metavar="PYTHON", help="interpreter that has the peer")
    options = parser.parse_args()
    if not options.hta:
        print("skipped: --hta names no interpreter that has HolisticTraceAnalysis")
        return 0
    numbers = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for golden in sorted(GOLDEN.glob("*.json.gz")):
            found = compare(options.hta, golden, folder)
            if found is None:
                continue
            numbers[golden.name] = found
            same = "equal" if found["theirs"] == found["their_rows"] else "DIFFERENT"
            print(f"{golden.name}: {same} on the peer's rows")
            for who, each in found.items():
                print(f"  {who:10} {each}")
        seconds = measure(options.hta, folder)
    print(" ".join(f"{name} {1000 * each:.1f} ms" for name, each in seconds.items()))
    tables, opened, sweep = (
        seconds["theirs"] / seconds[name] for name in ("tables", "opened", "sweep")
    )
    print(
        f"from tables {tables:.1f} x the speed, with opening the trace {opened:.1f} x, "
        f"the sweep {sweep:.1f} x"
    )
    if options.output:
        Path(options.output).write_text(json.dumps({"numbers": numbers, **seconds}, indent=1))
    return int(any(each["theirs"] != each["their_rows"] for each in numbers.values()))


if __name__ == "__main__":
    sys.exit(main())

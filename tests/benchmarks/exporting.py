"""Export for viewers: CPU time and memory by format and size, beside DuckDB's sort of the events.

    python tests/benchmarks/exporting.py

A pass of the traced loop has four events, an iteration and a sample of the CPU
(tests/support/files/dense_run.py). Each run is a process of its own and formats take turns; tables
are made before the clock starts.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.files import dense_run

from rlscope.opening import load

PASSES = (50_000, 250_000, 1_000_000)
FORMATS = ("perfetto", "chrome", "speedscope")
ROUNDS = 3

_RUN = """
import sys, time
from pathlib import Path
from rlscope import registry
from rlscope.export.window import between
from rlscope.opening import load
_, root, form, path = sys.argv
exporter = None if form == "sort" else registry.load(registry.EXPORTERS, form)
with load(root) as trace:
    begin = time.process_time()
    if exporter is None:
        trace.write_parquet("FROM event ORDER BY thread_id, stream, start_ns", path)
    else:
        whole = between(trace, None, None)
        exporter.write(trace, whole, Path(path), force=True, tell=lambda part: None)
    spent = time.process_time() - begin
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(spent, int(peak) / 1024)
"""


def measure(root: Path, form: str, path: Path) -> tuple[float, float]:
    """CPU seconds and the peak of the memory in MiB."""
    command = [sys.executable, "-c", _RUN, str(root), form, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, mebibytes = done.stdout.split()[-2:]  # DuckDB shows how far it is
    return float(seconds), float(mebibytes)


def compare(folder: Path, passes: int) -> dict[str, dict[str, float]]:
    """Medians for each format."""
    root = folder / str(passes)
    dense_run.write(root, passes)
    with load(root) as trace:
        (count,) = trace.sql("SELECT (SELECT count(*) FROM event) + count(*) FROM iteration").rows()
    slices = count[0]
    runs: dict[str, list[tuple[float, float]]] = {form: [] for form in ("sort", *FORMATS)}
    for _ in range(ROUNDS):
        for form, each in runs.items():
            each.append(measure(root, form, folder / form))
    found = {}
    for form, each in runs.items():
        cpu, memory = (statistics.median(column) for column in zip(*each, strict=True))
        size = (folder / form).stat().st_size
        found[form] = {"cpu_s": cpu, "peak_mib": memory, "bytes_a_slice": size / slices}
        print(
            f"{slices:>9,} slices  {form:10}  {cpu:6.2f} s of CPU, {cpu / slices * 1e6:5.2f} s a "
            f"million, {memory:4.0f} MiB, {size / slices:4.0f} bytes a slice",
            flush=True,
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", metavar="FILE", help="results as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {passes: compare(Path(folder), passes) for passes in PASSES}
    if options.output:
        Path(options.output).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

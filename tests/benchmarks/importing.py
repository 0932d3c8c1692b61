"""Import of a torch.profiler trace against HolisticTraceAnalysis's parser: CPU time and memory.

    python -m venv build/hta && build/hta/bin/pip install HolisticTraceAnalysis
    python tests/benchmarks/importing.py --hta build/hta/bin/python

The file is a real trace, tiled in time to 200 MB. Every run is a process of its own, and the two
take turns; libraries are imported before the clock starts. Ours writes the trace, too, theirs only
fills tables. Without --hta the import is measured alone; with --megabytes the file is larger, and
memory should be what it was.
"""

import argparse
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "kineto" / "a100_resnet_control.json.gz"
MEGABYTES = 200
ROUNDS = 3
_TIME = re.compile(r'"ts": (\d{16})')

_OURS = """
import sys, time
from rlscope import registry
from rlscope.importing.directory import import_files
list(registry.load_all(registry.IMPORTERS))
begin = time.process_time()
import_files([sys.argv[1]], sys.argv[2], force=True)
"""
_THEIRS = """
import logging, sys, time
logging.disable(logging.CRITICAL)
from hta.common.trace import parse_trace_file
begin = time.process_time()
parse_trace_file(sys.argv[1])
"""
_REPORT = """
spent = time.process_time() - begin
# Not getrusage(): its peak is that of the process before exec, too.
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(spent, int(peak) / 1024)
"""


def tile(path: Path, megabytes: int = MEGABYTES) -> None:
    """Writes the trace several times behind each other, a second apart."""
    text = gzip.decompress(GOLDEN.read_bytes()).decode()
    begin = text.index("[", text.index('"traceEvents"')) + 1
    end = text.rindex("]")
    with path.open("w") as file:
        file.write(text[:begin])
        for n in range(round(megabytes * 1e6 / (end - begin))):
            shift_us = n * 1_000_000
            rows = _TIME.sub(
                lambda match, by=shift_us: f'"ts": {int(match[1]) + by}', text[begin:end]
            )
            file.write(("," if n else "") + rows)
        file.write(text[end:])


def measure(python: str, program: str, *arguments: str) -> tuple[float, float]:
    """CPU seconds and the peak of the memory in MiB."""
    command = [python, "-c", program + _REPORT, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, mebibytes = done.stdout.split()[-2:]
    return float(seconds), float(mebibytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", metavar="FILE", help="results as JSON")
    parser.add_argument("--hta", metavar="PYTHON", help="interpreter that has the peer")
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help="size of the file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiled.json"
        tile(file, options.megabytes)
        megabytes = file.stat().st_size / 1e6
        runs: dict[str, list[tuple[float, float]]] = {"ours": [], "hta": []}
        for _ in range(ROUNDS):
            runs["ours"].append(measure(sys.executable, _OURS, str(file), f"{folder}/run"))
            if options.hta:
                runs["hta"].append(measure(options.hta, _THEIRS, str(file)))
    found = {
        name: {
            "cpu_s": statistics.median(cpu for cpu, _ in each),
            "peak_mib": statistics.median(memory for _, memory in each),
        }
        for name, each in runs.items()
        if each
    }
    for name, each in found.items():
        rate = megabytes / each["cpu_s"]
        print(f"{name}: {each['cpu_s']:.2f} s of CPU, {rate:.0f} MB/s, {each['peak_mib']:.0f} MiB")
    if options.hta:
        ours, theirs = found["ours"], found["hta"]
        print(
            f"{theirs['cpu_s'] / ours['cpu_s']:.1f} x the speed, "
            f"{ours['peak_mib'] / theirs['peak_mib']:.3f} of the memory"
        )
    if options.output:
        Path(options.output).write_text(json.dumps({"megabytes": megabytes, **found}, indent=1))


if __name__ == "__main__":
    main()

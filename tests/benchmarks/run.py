"""Runs every benchmark, one after the other; each writes build/benchmarks/<name>.json.

    python tests/benchmarks/run.py [NAME ...]

Nothing else should run on the machine meanwhile. `validation` measures what its page has, which
takes more than an hour: `validation.py --help` has the times, and how to make the page of it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = (
    "annotation",
    "not_recording",
    "validation",
    "probes",
    "stacks",
    "line_truth",
    "startup",
    "ppo_overhead",
    "automatic_calls",
    "automatic_truth",
    "interception",
    "callbacks",
    "waits",
    "layers",
    "sweep",
    "tables",
    "importing",
    "temporal_breakdown",
    "exporting",
    "cookbook",
    "line_panels",
    "process_counts",
    "cuda_calls",
    "call_sites",
    "gpu_share",
    "writeback",
    "processes",
    "brief_workloads",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    names = parser.parse_args().names or NAMES
    for unknown in set(names) - set(NAMES):
        parser.error(f"no benchmark {unknown!r}; there are {', '.join(NAMES)}")
    results = HERE.parents[1] / "build" / "benchmarks"
    results.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in names:
        print(f"== {name}", flush=True)
        output = results / f"{name}.json"
        command = [sys.executable, str(HERE / f"{name}.py"), "--output", str(output)]
        failed += subprocess.run(command, check=False).returncode != 0
    print(f"results: {results}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

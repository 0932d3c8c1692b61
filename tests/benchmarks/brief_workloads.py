"""How long each workload takes for 256 steps, after its imports.

    python tests/benchmarks/brief_workloads.py [--runs 3] [--output FILE]

The median of some runs, each in a process of its own. At most 5 s where PyTorch runs eagerly in one
process; 60 s where something is compiled, or other processes have to begin. A workload whose
libraries are missing is named and left out.
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402

_FOLDER = HERE.parents[1] / "workloads"
_EAGER, _OTHER = 5.0, 60.0
_SLOWER = ("jax", "tensorflow", "self_play")
_ABSENT = "No module named"
# main() begins when all that it needs has been imported.
_TIMED = """
import importlib, sys, time
module = importlib.import_module("rlscope.workloads." + sys.argv[1])
start = time.perf_counter()
module.main(["--total-timesteps", "256"])
print(time.perf_counter() - start)
"""


def programs() -> list[str]:
    """Workloads that can be run."""
    found = (path for path in _FOLDER.glob("*.py") if "\ndef main(" in path.read_text())
    return sorted(path.stem for path in found)


def seconds(name: str) -> "float | None":
    """How long one run takes; None: a library is missing."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, name],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parents[1],
    )
    if done.returncode:
        if _ABSENT in done.stderr or "pip install" in done.stderr:
            return None
        raise SystemExit(f"{name}: {done.stderr}")
    return float(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", metavar="FILE")
    options = parser.parse_args()
    result: dict[str, object] = {}
    met = True
    for name in programs():
        taken = [seconds(name) for _ in range(options.runs)]
        known = [each for each in taken if each is not None]
        if not known:
            print(f"{name}: left out, a library is missing")
            continue
        limit = _OTHER if any(part in name for part in _SLOWER) else _EAGER
        median = statistics.median(known)
        met &= median <= limit
        result[name] = {"seconds": median, "limit": limit}
        print(f"{name}: {median:.1f} s of {limit:g} s", flush=True)
    if options.output:
        write_result(options.output, result)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

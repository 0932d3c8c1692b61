"""Is what rlscope records of a real GPU right? Runs every step and prints PASS, FAIL or SKIP.

    python tests/gpu/acceptance.py [--json FILE] [--keep DIR] [--list] [STEP ...]

Run it with a Python that has rlscope and, for most steps, PyTorch; a step whose library is missing
is a SKIP with its reason. Ends with 1 when a step failed or none passed. Takes less than eight
minutes, as estimated. `--keep` keeps the traces, and the records of the step raw-records, which
belong into tests/golden/cupti; without it they go to a temporary folder that is removed.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))

import capture_steps
import life_steps
import time_steps
from gpu_runs import Answer, Bench, Figures, answer, check


def environment(bench: Bench) -> Figures:
    """What rlscope doctor says of this machine: driver, GPU, CUPTI, clock."""
    command = [sys.executable, "-c", "from rlscope.commands import main; raise SystemExit(main())"]
    done = subprocess.run([*command, "doctor", "--format", "json"], capture_output=True, text=True)
    check(bool(done.stdout), done.stderr.strip() or "rlscope doctor said nothing")
    return {"python": platform.python_version(), "doctor": json.loads(done.stdout)}


STEPS: dict[str, Callable[[Bench], Figures]] = {
    "environment": environment,
    **{
        f"attaching-{library}": functools.partial(capture_steps.attaching, library=library)
        for library in capture_steps.LIBRARIES
    },
    "injection": capture_steps.injection,
    "nesting": capture_steps.nesting,
    "counts": capture_steps.counts,
    "static-runtime": capture_steps.static_runtime,
    "torch-profiler": capture_steps.same_as_torch_profiler,
    "graphs-driver": functools.partial(capture_steps.graphs, program="driver_graph.py"),
    "graphs-torch": functools.partial(capture_steps.graphs, program="torch_graph.py"),
    "raw-records": capture_steps.raw_records,
    "times": time_steps.lengths_and_clock,
    **{
        f"ending-{way}": functools.partial(life_steps.ending, way=way) for way in life_steps.ENDINGS
    },
    "profiler-yield": life_steps.yielded,
    "reset": life_steps.reset,
    "kill": life_steps.kill,
    "cost-of-calls": time_steps.cost_of_calls,
    "cost-of-threads": time_steps.cost_of_threads,
    "cost-of-training": functools.partial(
        time_steps.cost_of_training, program="torch_training.py", updates=1000
    ),
    "cost-of-rollouts": functools.partial(
        time_steps.cost_of_training, program="torch_rollouts.py", updates=20
    ),
}


def run_steps(names: list[str], folder: Path) -> list[Answer]:
    answers = []
    for name in names:
        found = answer(name, STEPS[name], Bench(folder / name))
        answers.append(found)
        words = found.reason or json.dumps(found.figures)
        print(f"{found.status} {name} ({found.seconds:.1f} s): {words}", flush=True)
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help="all of them by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the traces here")
    parser.add_argument("--list", action="store_true", help="list the steps")
    options = parser.parse_args()
    if options.list:
        print("\n".join(STEPS))
        return 0
    unknown = [name for name in options.steps if name not in STEPS]
    if unknown:
        print(f"no such step: {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as temporary:
        answers = run_steps(options.steps or list(STEPS), options.keep or Path(temporary))
    if options.json:
        rows = [dataclasses.asdict(found) for found in answers]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
        print(f"answers: {options.json}")
    statuses = [found.status for found in answers]
    print(", ".join(f"{statuses.count(each)} {each}" for each in ("PASS", "FAIL", "SKIP")))
    return 0 if "PASS" in statuses and "FAIL" not in statuses else 1


if __name__ == "__main__":
    raise SystemExit(main())

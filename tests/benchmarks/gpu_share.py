"""What windows of GPU work cost a loop, and what its run says of that, on the simulated CUDA.

    python tests/benchmarks/gpu_share.py [--seconds S] [--output FILE]

The simulated CUPTI takes CPU time that is known: for each record, for each call from the first
record until CUPTI is finalized, for attaching and for finalizing. So the truth is the number of
these in the run, times their costs, over the time of its iterations. Windows are compared by that
time, too, so the machine must be quiet.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402
from support.cuda.scripts import record_script  # noqa: E402
from support.cuda.simcuda_runs import having  # noqa: E402

import rlscope as rls  # noqa: E402
from rlscope.analysis import gpu_windows  # noqa: E402

LAUNCHES, LAUNCH_NS = 100, 27_000
RECORD_US, STAYS_US = (1, 3, 8), (0, 2)
ATTACH_NS, FINALIZE_NS = 12_000_000, 13_000_000
MOST_COST, MOST_ERROR, MOST_KERNEL_ERROR = 0.03, 0.02, 0.02

PROGRAM = f"""
import rlscope as rls

begin()
function, own = kernel("policy_step"), stream()

def spin(ns):
    end = time.perf_counter_ns() + ns
    while time.perf_counter_ns() < end:
        pass

end, i = time.monotonic() + {{seconds}}, 0
while time.monotonic() < end:
    rls.iteration()
    i += 1
    with rls.operation("step"):
        for k in range({LAUNCHES}):
            launch(function, on=own, argument=k)
            spin({LAUNCH_NS})
        check(cuda.cuStreamSynchronize(own))
    if i % 4 == 0:
        with rls.operation("update"):
            for k in range(3 * {LAUNCHES}):
                launch(function, on=own, argument=k)
                spin({LAUNCH_NS})
            check(cuda.cuStreamSynchronize(own))
rls.iteration()
"""


def measure(folder: Path, record_us: int, stays_us: int, seconds: float) -> dict[str, Any]:
    """One run: shares of the time of its iterations."""
    run = record_script(
        folder,
        PROGRAM.format(seconds=seconds),
        prof=("--gpu-share", "auto"),
        SIMCUPTI_ACTIVITY_NS=str(1000 * record_us),
        SIMCUPTI_RECORDED_NS=str(1000 * stays_us),
        SIMCUPTI_ATTACH_NS=str(ATTACH_NS),
        SIMCUPTI_FINALIZE_NS=str(FINALIZE_NS),
        SIMCUDA_KERNEL_DURATION="4us",
    )
    (iterations,) = run.query(
        "SELECT COUNT(*) AS number, SUM(duration_ns) AS ns, SUM(kernels) AS kernels "
        "FROM iteration WHERE complete"
    )
    with rls.load(run.directory) as trace:
        (cost,) = gpu_windows.window_costs(trace).to_dicts()
        (estimate,) = gpu_windows.estimates(trace).to_dicts()
    pid = run.pids()[0]
    ended = len(having(run.outcome.truth, type="cupti", event="finalized"))
    cost_ns = iterations["kernels"] * 1000 * (record_us + stays_us)
    cost_ns += ended * (ATTACH_NS + FINALIZE_NS)
    kernels = len(having(run.outcome.operations(pid=pid), kind="kernel"))
    return {
        "record_us": record_us,
        "stays_us": stays_us,
        "windows": cost["windows"],
        "cost": cost_ns / iterations["ns"],
        "said": [cost["share"], cost["share_low"], cost["share_high"]],
        "kernels_off": None if estimate["kernels"] is None else estimate["kernels"] / kernels - 1,
        "seen": estimate["seen"] / estimate["iterations"],
    }


def is_met(row: dict[str, Any]) -> bool:
    said = row["said"][0]
    return (
        said is not None
        and row["cost"] < MOST_COST
        and abs(said - row["cost"]) < MOST_ERROR
        and abs(row["kernels_off"]) < MOST_KERNEL_ERROR
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0, help="of each run")
    parser.add_argument("--output", default="build/benchmarks/gpu_share.json")
    options = parser.parse_args()
    rows = []
    for record_us in RECORD_US:
        for stays_us in STAYS_US:
            with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
                rows.append(measure(Path(folder), record_us, stays_us, options.seconds))
            print("met   " if is_met(rows[-1]) else "MISSED", rows[-1])
    met = all(map(is_met, rows))
    write_result(options.output, {"rows": rows, "met": met})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

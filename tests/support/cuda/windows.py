"""Programs that are recorded in windows of GPU work, and what their windows must have."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from support.cuda.boundaries import NS_TOLERATED
from support.cuda.runs import CudaRun, losses
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import Row, having
from support.cuda.trace import KERNEL

WINDOW = 5
# `iterate(body)` runs so many iterations, and a last one in which nothing is done.
LOOP = """
import rlscope as rls
from rlscope.recorder import runtime

begin()
function, own = kernel("policy_step"), stream()
memory, host = allocate(1 << 12), (ctypes.c_char * (1 << 12))()

def wait():
    check(cuda.cuStreamSynchronize(own))

def body(i):
    for k in range(3 + i % 4):
        launch(function, on=own, argument=i)
    check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), own))
    wait()

def iterate(body, iterations=300):
    for i in range(iterations):
        rls.iteration()
        body(i)
    rls.iteration()
"""


def record(folder: Path, program: str, *prof: str, code: int = 0, **environment: str) -> CudaRun:
    """The program after LOOP, with a tenth of its iterations in windows of WINDOW."""
    share = () if "--gpu-share" in prof else ("--gpu-share", "10%")
    settings = {"RLSCOPE_TEST_GPU_WINDOW": str(WINDOW), **environment}
    return record_script(folder, LOOP + program, prof=(*share, *prof), code=code, **settings)


def pid_of(run: CudaRun) -> int:
    return run.pids()[0]


def events(run: CudaRun, event: str) -> int:
    """How often CUPTI was so."""
    return len(having(run.outcome.truth, type="cupti", event=event))


def iterations(run: CudaRun) -> list[Row]:
    return run.query("SELECT start_ns, complete, gpu_recorded FROM iteration ORDER BY start_ns")


def seen(run: CudaRun) -> list[tuple[int, int]]:
    """Spans in which all GPU work of the iterations' thread was recorded."""
    rows = iterations(run)
    ends = [row["start_ns"] for row in rows[1:]]
    found = [(0, rows[0]["start_ns"])]
    found += [
        (row["start_ns"], end) for row, end in zip(rows, ends, strict=False) if row["gpu_recorded"]
    ]
    return found


def launched(run: CudaRun, kind: str = "kernel") -> list[tuple[int, Row]]:
    """Operations of the truth, with the begin of the call that submitted each."""
    pid = pid_of(run)
    begins = {
        row["correlation"]: row["start_ns"]
        for row in run.outcome.calls(pid=pid)
        if not row["depth"]
    }
    rows = having(run.outcome.operations(pid=pid), kind=kind)
    return [(begins[row["correlation"]], row) for row in rows]


def starts_in_windows(run: CudaRun) -> list[int]:
    spans = seen(run)
    firsts = [first for first, _ in spans]
    found = []
    for begin, row in launched(run):
        span = spans[bisect_right(firsts, begin) - 1]
        if span[0] <= begin < span[1]:
            found.append(row["start_ns"])
    return sorted(found)


def recorded_starts(run: CudaRun) -> list[int]:
    return sorted(row["start_ns"] for row in run.work(pid_of(run)) if row["kind"] == KERNEL)


def check_windows(run: CudaRun) -> None:
    """Windows have all kernels that were launched in them, each at its time, and no other."""
    expected, recorded = starts_in_windows(run), recorded_starts(run)
    assert len(recorded) == len(expected)
    assert all(abs(a - b) < NS_TOLERATED for a, b in zip(recorded, expected, strict=True))
    rows = iterations(run)
    unseen = sum(row["complete"] and not row["gpu_recorded"] for row in rows)
    assert losses(run) == {"gpu_unrecorded": unseen}


def check_cupti(run: CudaRun, *, stays: bool) -> None:
    """CUPTI is ended after each window, and nothing attaches it in between."""
    assert events(run, "attached") == events(run, "finalized") + stays > 2


def has_near(sorted_ns: list[int], time_ns: int) -> bool:
    at = bisect_right(sorted_ns, time_ns - NS_TOLERATED)
    return at < len(sorted_ns) and sorted_ns[at] < time_ns + NS_TOLERATED

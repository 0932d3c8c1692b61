"""How many events a process has of each kind, which a trace says without being decoded."""

from __future__ import annotations

from pathlib import Path

from ground_truth.raw import (
    Auto,
    CudaCall,
    GpuWork,
    RawProcess,
    RawThread,
    call,
    call_begin,
    call_end,
    callback_begin,
    callback_end,
    enter,
    iteration,
    leave,
    phase,
    resolve,
    segment,
)
from ground_truth.written import write

from rlscope.opening import load

KINDS = ("operation_events", "automatic_events", "native_events", "cuda_events")

# 1 operation inside a native call, 3 native calls, 2 segments that are something, 2 CUDA calls.
FIRST = RawThread(
    items=[
        phase(100, "training"),
        iteration(200, automatic=True),
        segment(300, Auto.SIMULATION),
        segment(400, Auto.NOTHING),
        segment(500, Auto.INSIDE),
        resolve(600, {Auto.INSIDE: Auto.INFERENCE}),
        call(700, 800, "matmul"),
        call(800, 900, "matmul"),
        call_begin(1_000, "matmul"),
        callback_begin(1_100),
        enter(1_200, "inner"),
        leave(1_300, "inner"),
        callback_end(1_400),
        call_end(1_500),
    ],
    cuda_calls=[CudaCall(720, 730), CudaCall(740, 750)],
)
SECOND = RawThread(
    items=[each for at in range(0, 9_000, 2) for each in (enter(at, "a"), leave(at + 1, "a"))],
    main=False,
)
PROCESS = RawProcess(end_ns=10_000, threads=[FIRST, SECOND], gpu=[GpuWork(760, 790)])


def test_events_of_a_process_are_counted_by_kind(tmp_path: Path) -> None:
    idle = RawProcess(end_ns=10_000, os_pid=4243)
    write([PROCESS, idle], tmp_path)
    rows = load(str(tmp_path)).sql(
        f"SELECT events, {', '.join(KINDS)} FROM process ORDER BY os_pid"
    )
    assert [tuple(row.values()) for row in rows.to_dicts()] == [
        (4_501 + 2 + 3 + 2 + 1, 4_501, 2, 3, 2),
        (0, 0, 0, 0, 0),
    ]

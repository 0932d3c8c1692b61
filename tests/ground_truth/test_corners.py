"""Corners that docs/reference/semantics-notes.md decides, one test each."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground_truth.raw import (
    CudaCall,
    Gpu,
    GpuWork,
    Item,
    RawProcess,
    RawThread,
    call,
    call_begin,
    call_end,
    callback_begin,
    callback_end,
    enter,
    gap,
    iteration,
    leave,
    phase,
    task,
    window_start,
    window_stop,
)
from ground_truth.relations import (
    ApiCall,
    Breakdown,
    Instance,
    Iteration,
    Life,
    Sync,
    ThreadBreakdown,
)
from ground_truth.swept import sweep, sweep_cuda
from ground_truth.written import write
from rlscope.opening import load

LATE = [window_start(20), enter(30, "update"), leave(50, "update"), window_stop(60)]


def process(*items: Item, calls: list[CudaCall] | None = None, **facts: object) -> RawProcess:
    thread = RawThread(items=items, cuda_calls=calls or [])
    return RawProcess(end_ns=100, threads=[thread], **facts)  # type: ignore[arg-type]


def layers(found: RawProcess) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in sweep(found)["breakdown"]:
        assert isinstance(row, Breakdown)
        sums[row.layer] = sums.get(row.layer, 0) + row.duration_ns
    return sums


def test_lost_records_close_native_calls_and_not_the_cuda_call_around_them() -> None:
    lost = process(call_begin(0, "matmul"), gap(50), calls=[CudaCall(40, 80)])
    assert layers(lost) == {"framework": 40, "cuda_api": 40, "python": 20}
    assert sweep_cuda(lost)["api_call"] == [ApiCall("cudaLaunchKernel", "(none)", 1, 40, 0, 0)]


def test_a_synchronisation_across_the_end_of_a_window_ends_there_like_its_call() -> None:
    waiting = CudaCall(50, 80, "cudaDeviceSynchronize", correlation=7)
    record = GpuWork(50, 80, Gpu.SYNC, 0, (1 << 32) - 1, 1, 7, how=4)
    work = GpuWork(40, 90, Gpu.KERNEL, 0, 7, 1)
    whole = process(*LATE, calls=[waiting], gpu=[work, record])
    assert sweep_cuda(whole)["sync"] == [Sync("device", "(none)", 1, 10, 10)]
    # Without its call it is whole, and waits in recorded time only.
    alone = process(*LATE, gpu=[work, record])
    assert sweep_cuda(alone)["sync"] == [Sync("device", "(unlinked)", 1, 30, 10)]


def test_a_launch_has_work_also_where_that_runs_outside_of_the_windows() -> None:
    launch = CudaCall(40, 45, correlation=7)
    work = GpuWork(70, 80, Gpu.KERNEL, 0, 7, 1, 7)
    later = process(*LATE, window_start(90), calls=[launch], gpu=[work])
    rows = sweep_cuda(later)
    assert rows["api_call"] == [ApiCall("cudaLaunchKernel", "update", 1, 5, 0, 1)]
    assert rows["kernel"] == []


def test_a_task_switch_between_windows_is_not_followed() -> None:
    switched = process(
        task(0, 1), window_stop(20), task(30, 2), window_start(40), enter(50, "a"), task(60, 2)
    )
    # "a" is of task 1, which ran at the stop; so it is suspended when task 2 says that it runs.
    (row,) = sweep(switched)["operation_instance"]
    assert isinstance(row, Instance) and row.self_ns == 10


@pytest.mark.parametrize(
    "early",
    [enter(5, "early"), phase(5, "early"), task(5, 3), callback_begin(5), call(5, 15, "matmul")],
)
def test_what_is_recorded_before_the_first_start_does_not_happen(early: Item) -> None:
    with_it, without = sweep(process(early, *LATE)), sweep(process(*LATE))
    for relation in ("breakdown", "operation_instance", "phase", "native_call", "transition"):
        assert with_it[relation] == without[relation], relation


def test_a_thread_lives_from_the_first_start_at_the_earliest() -> None:
    worker = RawThread(items=[enter(5, "early")], main=False)
    found = RawProcess(end_ns=100, threads=[RawThread(items=LATE), worker])
    rows = sweep(found)
    assert Life(2, 20, 60) in rows["thread"] or Life(1, 20, 60) in rows["thread"]
    lives = [row for row in rows["breakdown_by_thread"] if isinstance(row, ThreadBreakdown)]
    assert sum(row.duration_ns for row in lives if row.operation != "update") == 60


def test_an_outermost_operation_has_depth_0_and_no_parent(tmp_path: Path) -> None:
    items = [enter(0, "a"), enter(10, "b"), leave(20, "b"), leave(30, "a")]
    write([process(*items, window_stop(40), window_start(50))], tmp_path / "run")
    with load(tmp_path / "run") as trace:
        rows = trace.sql(
            "SELECT path, depth, parent_operation_id FROM operation ORDER BY operation_id"
        ).to_dicts()
    assert [tuple(row.values()) for row in rows] == [("a", 0, None), ("a/b", 1, 0)]


def test_events_of_a_process_are_what_begins_windows_or_not(tmp_path: Path) -> None:
    items = [
        enter(0, "a"),  # 1
        call_begin(5, "matmul"),  # 2
        callback_begin(6),
        callback_end(7),
        call_end(8),
        leave(9, "a"),
        window_stop(40),
        call(60, 70, "matmul"),  # 3
        window_start(80),
    ]
    # And a CUDA call, a kernel and a synchronisation.
    work = [GpuWork(6, 9), GpuWork(6, 9, Gpu.SYNC)]
    write([process(*items, calls=[CudaCall(10, 12)], gpu=work)], tmp_path / "run")
    with load(tmp_path / "run") as trace:
        assert trace.sql("SELECT events FROM process")["events"] == (6,)


def test_an_automatic_iteration_is_what_precedes_the_programs_own() -> None:
    rows = sweep(process(iteration(10, automatic=True), iteration(30), iteration(40)))["iteration"]
    assert rows == [
        Iteration(0, 10, 20, True, True, "automatic"),
        Iteration(1, 30, 10, True, True, "explicit"),
        Iteration(2, 40, 60, False, False, "explicit"),
    ]

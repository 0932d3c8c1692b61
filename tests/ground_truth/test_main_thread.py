"""A main thread without an operation does not work for the worker that owns the process."""

from __future__ import annotations

from ground_truth.raw import CudaCall, RawProcess, RawThread, call, enter, leave
from ground_truth.relations import ApiCall, Breakdown, NativeCall
from ground_truth.swept import sweep, sweep_cuda

BLOCKED = RawThread(items=[call(0, 90, "matmul")])
LEARNER = RawThread(items=[enter(10, "learn"), leave(60, "learn")], main=False)


def breakdown(*threads: RawThread) -> list[Breakdown]:
    rows = sweep(RawProcess(end_ns=100, threads=threads))["breakdown"]
    return [row for row in rows if isinstance(row, Breakdown) and row.operation != "(none)"]


def test_an_annotated_worker_is_where_it_is_while_the_main_thread_sits_in_a_native_call() -> None:
    assert breakdown(BLOCKED, LEARNER) == [
        Breakdown("loop", "(none)", "learn", "python", False, 50, 1)
    ]


def test_the_main_thread_counts_where_no_thread_has_an_operation() -> None:
    rows = sweep(RawProcess(end_ns=100, threads=[BLOCKED, LEARNER]))["breakdown"]
    outside = [row for row in rows if isinstance(row, Breakdown) and row.operation == "(none)"]
    assert outside == [
        Breakdown("end", "(none)", "(none)", "framework", False, 30, 1),
        Breakdown("end", "(none)", "(none)", "python", False, 10, 1),
        Breakdown("start-up", "(none)", "(none)", "framework", False, 10, 1),
    ]


def test_a_worker_without_an_operation_is_counted_with_the_owner() -> None:
    computing = RawThread(items=[call(20, 50, "env.step")], main=False)
    own = RawThread(items=[enter(10, "act"), leave(60, "act")])
    for owner in (own, LEARNER):
        layers = {row.layer: row.duration_ns for row in breakdown(owner, computing)}
        assert layers == {"python": 20, "simulator": 30}


def test_calls_of_the_main_thread_are_not_the_workers() -> None:
    main = RawThread(items=[call(20, 50, "matmul")], cuda_calls=[CudaCall(30, 40, "cudaMalloc")])
    process = RawProcess(end_ns=100, threads=[main, LEARNER])
    assert sweep(process)["native_call"] == [NativeCall("matmul", "framework", "(none)", 1, 30, 20)]
    assert sweep_cuda(process)["api_call"] == [ApiCall("cudaMalloc", "(none)", 1, 10, 0, 0)]

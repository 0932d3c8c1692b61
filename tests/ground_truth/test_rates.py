"""Which transitions a rate per iteration counts."""

from __future__ import annotations

from ground_truth.raw import CudaCall, Item, RawProcess, RawThread, call, iteration
from ground_truth.relations import Transition
from ground_truth.swept import sweep


def rates(*threads: RawThread) -> list[tuple[object, ...]]:
    """(layer left, layer entered, count, per_iteration) of a process of 100 ns."""
    rows = sweep(RawProcess(end_ns=100, threads=threads))["transition"]
    return [row[1:] for row in rows if isinstance(row, Transition)]


def test_calls_of_start_up_and_of_the_unfinished_iteration_are_not_in_the_rate() -> None:
    items = [
        call(1, 2, "matmul"),
        call(3, 4, "matmul"),
        iteration(10),
        call(11, 12, "matmul"),
        iteration(20),
        call(21, 22, "matmul"),
        call(23, 24, "matmul"),
        iteration(30),
        call(31, 32, "matmul"),
    ]
    assert rates(RawThread(items=items)) == [("python", "framework", 6, 1.5)]


def test_a_call_at_the_time_of_an_iteration_is_in_the_one_that_begins() -> None:
    items = [iteration(10), call(20, 25, "matmul"), iteration(25), call(25, 26, "matmul")]
    assert rates(RawThread(items=items)) == [("python", "framework", 2, 1.0)]
    begun: list[Item] = [call(10, 12, "matmul"), iteration(20), iteration(30)]
    late = RawThread(items=[call(20, 21, "matmul"), call(29, 40, "matmul")], main=False)
    assert rates(RawThread(items=begun), late) == [("python", "framework", 3, 2.0)]


def test_a_cuda_call_counts_where_it_begins_inside_a_longer_call() -> None:
    thread = RawThread(
        items=[iteration(10), call(15, 35, "matmul"), iteration(40)],
        cuda_calls=[CudaCall(5, 6), CudaCall(16, 18), CudaCall(20, 22), CudaCall(45, 50)],
    )
    assert rates(thread) == [
        ("framework", "cuda_api", 2, 2.0),
        ("python", "cuda_api", 2, 0.0),
        ("python", "framework", 1, 1.0),
    ]


def test_iterations_that_rlscope_finds_by_itself_do_not_count_beside_the_programs_own() -> None:
    items = [
        iteration(10, automatic=True),
        call(11, 12, "matmul"),
        iteration(20),
        call(21, 22, "matmul"),
        iteration(30),
    ]
    assert rates(RawThread(items=items)) == [("python", "framework", 2, 1.0)]

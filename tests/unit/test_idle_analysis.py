"""Questions about idle time, and about single calls that are most of an operation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ground_truth.raw import CudaCall, Gpu, GpuWork, RawProcess, RawThread, call, enter, leave
from ground_truth.written import ORIGIN_NS, write

from rlscope.analysis import idle
from rlscope.opening import load
from rlscope.relations.trace import Trace


def instances(begin: int, lengths: list[int], name: str, function: str) -> list[object]:
    items: list[object] = []
    for length in lengths:
        items += [enter(begin, name), call(begin + 1, begin + length - 1, function)]
        items.append(leave(begin + length, name))
        begin += length + 10
    return items


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[Trace]:
    """20 backprops, the first of which takes most of the time, 20 even simulations, and 3 more."""
    thread = RawThread(
        items=[
            *instances(100, [2000, *[20] * 19], "backprop", "matmul"),
            *instances(5000, [30] * 20, "simulation", "env.step"),
            *instances(7000, [900, 10, 10], "evaluation", "matmul"),
        ],
        cuda_calls=[CudaCall(5005, 5015, "cudaMalloc"), CudaCall(200, 1900, "cuModuleLoadData")],
    )
    thread = RawThread(items=thread.items, cuda_calls=sorted(thread.cuda_calls))
    process = RawProcess(
        end_ns=9000, threads=[thread], gpu=[GpuWork(5000, 5010, Gpu.KERNEL)], python_begin_ns=0
    )
    write([process], tmp_path / "trace")
    with load(str(tmp_path / "trace")) as opened:
        yield opened


def test_an_instance_that_is_most_of_its_operation_is_an_outlier(trace: Trace) -> None:
    (row,) = idle.outliers(trace, least=10, share=0.5, rows=5).to_dicts()
    assert (row["operation"], row["count"], row["whole_ns"]) == ("backprop", 20, 2000 + 19 * 20)
    assert (row["longest_ns"], row["usual_ns"]) == (2000, 20)
    assert (row["start_ns"], row["duration_ns"]) == (100 + ORIGIN_NS, 2000)


def test_few_instances_have_no_outlier(trace: Trace) -> None:
    found = idle.outliers(trace, least=3, share=0.5, rows=5).to_dicts()
    assert {row["operation"] for row in found} == {"backprop", "evaluation"}
    assert not idle.outliers(trace, least=10, share=0.9, rows=5).to_dicts()


def test_the_longest_calls_say_what_an_outlier_was(trace: Trace) -> None:
    (row,) = idle.outliers(trace, least=10, share=0.5, rows=5).to_dicts()
    found = idle.calls_in(
        trace,
        process=row["process_id"],
        thread=row["thread_id"],
        start_ns=row["start_ns"],
        end_ns=row["start_ns"] + row["duration_ns"],
        rows=2,
    ).to_dicts()
    assert [(each["kind"], each["name"], each["duration_ns"]) for each in found] == [
        ("call", "matmul", 1998),
        ("cuda_call", "cuModuleLoadData", 1700),
    ]


def test_reasons_add_up_to_the_loop(trace: Trace) -> None:
    rows = idle.reasons(trace).to_dicts()
    whole = sum(row["duration_ns"] for row in rows)
    assert {row["whole_ns"] for row in rows} == {whole}
    assert whole == trace.sql("SELECT SUM(duration_ns)::BIGINT AS ns FROM breakdown "
                              "WHERE stage IN ('loop', 'warm-up')").to_dicts()[0]["ns"]  # fmt: skip
    found = {(row["operation"], row["reason"]): row for row in rows}
    assert found["backprop", "compilation"]["duration_ns"] == 1700
    malloc = found["simulation", "allocation"]
    assert (malloc["duration_ns"], malloc["idle_ns"]) == (10, 5)


def test_a_process_without_a_gpu_has_no_idle_gpu(tmp_path: Path) -> None:
    thread = RawThread(items=instances(10, [30, 30], "simulation", "env.step"))
    write([RawProcess(end_ns=100, threads=[thread])], tmp_path / "trace")
    with load(str(tmp_path / "trace")) as trace:
        assert {row["idle_ns"] for row in idle.reasons(trace).to_dicts()} == {None}

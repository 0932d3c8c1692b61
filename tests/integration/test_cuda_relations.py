"""The relations of CUDA calls and GPU work are those that happened: operations, counts, times."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from support.cuda.runs import CudaRun, expected_calls, record_cuda
from support.cuda.simcuda_runs import PREAMBLE, PROGRAMS

TRAINING = "40", "3"  # rounds, threads
NS_TOLERATED = 1_000

Span = tuple[int, int]

# What is launched in an operation has a name of its own. Autograd's way: a thread without an
# operation launches while the main thread's operation is open.
OPERATIONS = """
import rlscope as rls

act, learn, both = kernel("sim_spin_act"), kernel("sim_spin_learn"), kernel("sim_spin_free")
memory = allocate(1 << 16)
host = (ctypes.c_char * (1 << 16))()
mine, theirs = stream(), stream()

def autograd():
    primary()
    for i in range(20):
        launch(learn, on=theirs, argument=200_000)
        launch(learn, on=theirs, argument=100_000)
        check(cuda.cuStreamSynchronize(theirs))
    check(cuda.cuMemsetD8Async(memory, 0, c_size_t(512), theirs))

for i in range(10):
    with rls.operation("inference"):
        check(cuda.cuMemcpyHtoDAsync_v2(memory, host, c_size_t(4096), mine))
        launch(act, on=mine, argument=2_000_000)
        with rls.operation("read"):
            check(cuda.cuCtxSynchronize())
            check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), mine))
    launch(both, on=mine, argument=500_000)
    check(cuda.cuStreamSynchronize(mine))
    if i % 5 == 0:
        with rls.operation("backprop"):
            thread = threading.Thread(target=autograd)
            thread.start()
            thread.join()
cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(1 << 60))  # fails
"""
# By kernel; everything else of the program is counted by hand below.
OPERATION_OF = {
    "sim_spin_act": "inference", "sim_spin_learn": "backprop", "sim_spin_free": "(none)",
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CudaRun:
    folder = tmp_path_factory.mktemp("operations")
    script = folder / "script.py"
    script.write_text(PREAMBLE + OPERATIONS)
    return record_cuda(folder, [sys.executable, str(script)])


def union(spans: Iterable[Span]) -> int:
    """Total length of what the spans cover."""
    total, until = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def overlap(span: Span, others: Iterable[Span]) -> int:
    return union(
        (max(span[0], start), min(span[1], end))
        for start, end in others
        if start < span[1] and end > span[0]
    )


def spans(rows: Iterable[dict[str, Any]]) -> list[Span]:
    return [(row["start_ns"], row["end_ns"]) for row in rows]


def work(run: CudaRun, *kinds: str) -> list[dict[str, Any]]:
    """Device operations of the truth that a graph's launch does not already stand for."""
    rows = run.outcome.operations()
    return [r for r in rows if r["kind"] in kinds and (r["graph"] == 0 or r["kind"] == "graph")]


BUSY = ("kernel", "memcpy", "memset", "graph")


def test_kernels_belong_to_the_operations_that_launched_them(run: CudaRun) -> None:
    rows = run.query("SELECT * FROM kernel")
    truth = work(run, "kernel")
    assert {row["name"]: row["operation"] for row in rows} == OPERATION_OF
    assert len(rows) == len(OPERATION_OF)
    for row in rows:
        own = [each for each in truth if each["name"] == row["name"]]
        lengths = [each["end_ns"] - each["start_ns"] for each in own]
        assert row["count"] == len(own) > 0
        assert {each["stream"] for each in own} == {row["stream"]}
        assert abs(row["duration_ns"] - sum(lengths)) <= NS_TOLERATED
        assert abs(row["min_ns"] - min(lengths)) <= NS_TOLERATED
        assert abs(row["max_ns"] - max(lengths)) <= NS_TOLERATED


def test_a_launch_into_an_idle_stream_is_launch_bound(run: CudaRun) -> None:
    calls, kernels = run.calls(run.pids()[0]), work(run, "kernel")
    everything = work(run, *BUSY)
    expected = dict.fromkeys(OPERATION_OF, 0)
    for kernel in kernels:
        before = [
            each["end_ns"]
            for each in everything
            if each["stream"] == kernel["stream"] and each["start_ns"] < kernel["start_ns"]
        ]
        launched = calls[kernel["correlation"]]["end_ns"]
        expected[kernel["name"]] += all(end <= launched for end in before)
    rows = run.query("SELECT name, launch_bound FROM kernel")
    assert {row["name"]: row["launch_bound"] for row in rows} == expected
    assert expected["sim_spin_free"] == 10  # always after a synchronisation
    assert 40 <= expected["sim_spin_learn"] < 80  # two at a time


def test_copies_and_memsets(run: CudaRun) -> None:
    found = {
        (row["operation"], row["direction"], row["memory"]): (row["count"], row["bytes"])
        for row in run.query("SELECT * FROM memcpy")
    }
    assert found == {
        ("inference", "host_to_device", "pageable"): (10, 10 * 4096),
        ("inference/read", "device_to_host", "pageable"): (10, 10 * 512),
    }
    (memset,) = run.query("SELECT * FROM memset")
    assert (memset["operation"], memset["count"], memset["bytes"]) == ("backprop", 2, 1024)


def test_calls_of_a_thread_without_operation_are_the_owners(run: CudaRun) -> None:
    calls = expected_calls(run, run.pids()[0]).values()
    rows = run.query("SELECT name, SUM(calls)::BIGINT AS calls FROM api_call GROUP BY name")
    assert {row["name"]: row["calls"] for row in rows} == Counter(row["name"] for row in calls)
    launches = run.query("SELECT * FROM api_call WHERE name = 'cuLaunchKernel'")
    assert {row["operation"]: row["calls"] for row in launches} == {
        "inference": 10, "backprop": 80, "(none)": 10,
    }  # fmt: skip
    assert all(row["with_work"] == row["calls"] for row in launches)
    (failed,) = run.query("SELECT * FROM api_call WHERE errors > 0")
    assert (failed["name"], failed["errors"]) == ("cuMemAlloc_v2", 1)


def test_who_waited_and_how_long(run: CudaRun) -> None:
    rows = {(row["kind"], row["operation"]): row for row in run.query("SELECT * FROM sync")}
    counts = {key: row["count"] for key, row in rows.items()}
    assert counts == {
        ("device", "inference/read"): 10, ("stream", "backprop"): 40, ("stream", "(none)"): 10,
    }  # fmt: skip
    pid = run.pids()[0]
    recorded, truth = run.calls(pid), expected_calls(run, pid)
    waited = dict.fromkeys(rows, 0)
    tolerated = dict.fromkeys(rows, 0)
    for record in run.outcome.operations(kind="sync"):
        of_stream = record["sync"] == "stream"
        own = "(none)" if record["tid"] == pid else "backprop"
        key = ("stream", own) if of_stream else ("device", "inference/read")
        streams = [record["stream"]] if of_stream else {row["stream"] for row in work(run, *BUSY)}
        awaited = [row for row in work(run, *BUSY) if row["stream"] in streams]
        call, real = recorded[record["correlation"]], truth[record["correlation"]]
        waited[key] += overlap((real["start_ns"], real["end_ns"]), spans(awaited))
        # A call that lost the CPU between both readings of the clock waited less in one of them.
        tolerated[key] += NS_TOLERATED + abs(call["start_ns"] - real["start_ns"])
    for key, row in rows.items():
        assert abs(row["waiting_ns"] - waited[key]) <= tolerated[key]
        assert 0 < row["waiting_ns"] <= row["duration_ns"]


def test_gpu_time_from_both_ends_of_a_launch(run: CudaRun) -> None:
    rows = {row["operation"]: row for row in run.query("SELECT * FROM gpu_time")}
    truth = work(run, *BUSY)
    calls = {row["correlation"]: row for row in run.outcome.calls(depth=0)}
    launched: dict[str, list[Span]] = {operation: [] for operation in rows}
    for each in truth:
        name = calls[each["correlation"]]["name"]
        operation = OPERATION_OF.get(each.get("name", "")) or {
            "cuMemcpyHtoDAsync_v2": "inference", "cuMemcpyDtoHAsync_v2": "inference/read",
            "cuMemsetD8Async": "backprop",
        }[name]  # fmt: skip
        launched[operation].append((each["start_ns"], each["end_ns"]))
    assert set(rows) == {"inference", "inference/read", "backprop", "(none)"}
    for operation, row in rows.items():
        assert abs(row["launched_ns"] - union(launched[operation])) <= NS_TOLERATED
    whole = union(chain.from_iterable(launched.values()))
    assert abs(sum(row["while_ns"] for row in rows.values()) - whole) <= NS_TOLERATED
    # The kernels of "inference" are waited for in the operation inside.
    assert rows["inference/read"]["while_ns"] > rows["inference"]["while_ns"]
    (busy,) = run.query("SELECT SUM(duration_ns)::BIGINT AS ns FROM breakdown WHERE gpu_busy")
    assert sum(row["while_ns"] for row in rows.values()) == busy["ns"]


def test_nothing_is_left_unjoined(run: CudaRun) -> None:
    assert not run.query("SELECT * FROM loss")
    for relation in ("kernel", "memcpy", "memset", "sync", "gpu_time"):
        assert not run.query(f"SELECT * FROM {relation} WHERE operation = '(unlinked)'")


@pytest.mark.parametrize("nodes", [False, True])
def test_a_program_with_graphs_streams_and_threads(tmp_path: Path, nodes: bool) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    how = "node" if nodes else "graph"
    run = record_cuda(tmp_path, program, prof=("--cuda-graph-trace", how))
    kinds = {"kernel", "memcpy", "memset", *(() if nodes else ("graph",))}
    truth = [
        row for row in run.outcome.operations()
        if row["kind"] in kinds and (nodes or row["graph"] == 0 or row["kind"] == "graph")
    ]  # fmt: skip
    for kind in ("kernel", "memcpy", "memset", "graph"):
        name = {"kernel": "name", "graph": "graph"}.get(kind, "bytes")
        rows = run.query(f'SELECT stream, {name}, "count", duration_ns FROM {kind}')
        own = [row for row in truth if row["kind"] == kind]
        assert sum(row["count"] for row in rows) == len(own)
        lengths = sum(row["end_ns"] - row["start_ns"] for row in own)
        assert abs(sum(row["duration_ns"] for row in rows) - lengths) <= NS_TOLERATED
        assert {row["stream"] for row in rows} == {row["stream"] for row in own}
    (time,) = run.query("SELECT * FROM gpu_time")
    assert time["while_ns"] == time["launched_ns"]
    assert abs(time["launched_ns"] - union(spans(truth))) <= NS_TOLERATED
    assert not run.query("SELECT * FROM loss")


def test_a_lost_record_is_a_launch_without_work(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, SIMCUPTI_DROP_EVERY="10")
    kernels = [row for row in work(run, "kernel") if row["graph"] == 0]
    (row,) = run.query(
        "SELECT SUM(calls)::BIGINT AS calls, SUM(with_work)::BIGINT AS with_work FROM api_call"
        " WHERE name = '__cudaLaunchKernel'"
    )
    (recorded,) = run.query("SELECT SUM(count)::BIGINT AS kernels FROM kernel")
    assert row["with_work"] == recorded["kernels"] < len(kernels) < row["calls"]


def test_without_cuda_the_summary_says_why(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, SIMCUPTI_SUBSCRIBE_STATUS="39")
    reasons = run.query("SELECT relation, reason FROM absent WHERE relation = 'kernel'")
    assert len(reasons) == 1
    assert "another profiler holds CUPTI's one subscription" in reasons[0]["reason"]

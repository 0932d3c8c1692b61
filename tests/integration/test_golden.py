"""Traces that were recorded on a real GPU: they are read, and everything in them adds up."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cuda.trace import GRAPH, KERNEL, MEMCPY, MEMSET, SYNC, CudaTrace
from support.files.archives import unpack
from support.files.exact_sums import check_directory

from rlscope.analysis import operations
from rlscope.opening import Trace, load

GOLDEN = Path(__file__).parent.parent / "golden" / "h100"
TRACES = sorted(file.name.removesuffix(".tar.xz") for file in GOLDEN.glob("*.tar.xz"))
LEARNERS = [name for name in TRACES if name.startswith("learner-")]
ITERATIONS = 40


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folder of each trace."""
    root = tmp_path_factory.mktemp("golden")
    for name in TRACES:
        unpack(GOLDEN / f"{name}.tar.xz", root / name)
    return {name: root / name for name in TRACES}


@pytest.fixture
def trace(request: pytest.FixtureRequest, unpacked: dict[str, Path]) -> Iterator[Trace]:
    with load(str(unpacked[request.param])) as opened:
        yield opened


def rows(trace: Trace, statement: str) -> list[dict[str, object]]:
    return list(trace.sql(statement).to_dicts())


def number(trace: Trace, statement: str) -> int:
    (row,) = rows(trace, statement)
    (value,) = row.values()
    return int(str(value or 0))


@pytest.mark.parametrize("name", TRACES)
def test_every_sum_is_exact(name: str, unpacked: dict[str, Path]) -> None:
    check_directory(unpacked[name])


@pytest.mark.parametrize("trace", TRACES, indirect=True)
def test_time_between_operations_lies_between_operations(trace: Trace) -> None:
    found = operations.between_operations(trace, rows=60).to_dicts()
    between = number(
        trace,
        "SELECT SUM(duration_ns) FROM breakdown WHERE stage = 'loop' AND operation = '(none)'",
    )
    assert sum(row["duration_ns"] for row in found) == between
    assert {row["why"] for row in found} <= {None}
    assert bool(found) == (between > 0)


@pytest.mark.parametrize("trace", TRACES, indirect=True)
def test_each_piece_of_gpu_work_has_its_launch_and_nothing_is_lost(trace: Trace) -> None:
    assert number(trace, "SELECT SUM(count) FROM kernel") > 0
    assert not rows(trace, "SELECT * FROM kernel WHERE operation = '(unlinked)'")
    assert not rows(trace, "SELECT * FROM loss WHERE kind <> 'cuda_paused'")


@pytest.mark.parametrize("trace", LEARNERS, indirect=True)
def test_gpu_time_is_one_from_every_side(trace: Trace) -> None:
    busy = number(trace, "SELECT SUM(duration_ns) FILTER (gpu_busy) FROM breakdown")
    assert number(trace, "SELECT SUM(while_ns) FROM gpu_time") == busy
    # One stream: nothing runs at the same time, and the windows cut nothing.
    assert number(trace, "SELECT SUM(launched_ns) FROM gpu_time") == busy
    whole = "SELECT SUM(duration_ns) FROM"
    parts = sum(number(trace, f"{whole} {kind}") for kind in ("kernel", "memcpy", "memset"))
    assert parts == busy


@pytest.mark.parametrize("trace", LEARNERS, indirect=True)
def test_iterations_and_operations_are_those_of_the_program(trace: Trace) -> None:
    instances = rows(
        trace,
        "SELECT path, COUNT(*) AS count FROM operation_instance JOIN operation USING (operation_id)"
        " WHERE source = 'explicit' GROUP BY ALL ORDER BY path",
    )
    names = ("backprop", "inference", "sample", "simulation")
    assert instances == [{"path": name, "count": ITERATIONS} for name in names]
    where = "FROM iteration WHERE source = 'explicit'"
    assert number(trace, f"SELECT COUNT(*) {where}") == ITERATIONS


def test_times_of_iterations_are_those_that_the_program_took_itself(
    unpacked: dict[str, Path],
) -> None:
    for name in LEARNERS:
        said = json.loads((unpacked[name] / "said.json").read_text())["recorded"]
        with load(str(unpacked[name])) as opened:
            lengths = [
                row["duration_ns"]
                for row in rows(
                    opened, "SELECT duration_ns FROM iteration WHERE complete ORDER BY start_ns"
                )
            ]
        assert len(lengths) == ITERATIONS - 1
        for recorded, taken in zip(lengths, said["each_ns"], strict=False):
            assert abs(int(str(recorded)) - taken) < 200_000, name


def test_what_each_change_does_to_the_gpu_shows(unpacked: dict[str, Path]) -> None:
    kernels, busy = {}, {}
    for name in LEARNERS:
        with load(str(unpacked[name])) as opened:
            kernels[name] = number(opened, "SELECT SUM(count) FROM kernel")
            busy[name] = number(opened, "SELECT SUM(duration_ns) FROM kernel")
    base = kernels["learner-base"]
    assert kernels["learner-fused"] < base < kernels["learner-amp"]
    for name in ("learner-batch-64", "learner-batch-1024"):  # libraries choose kernels by size
        assert abs(kernels[name] - base) <= 5 * ITERATIONS
    assert busy["learner-batch-1024"] > busy["learner-batch-64"]


def test_a_little_of_everything_is_what_the_program_did(unpacked: dict[str, Path]) -> None:
    trace = CudaTrace(unpacked["driver-work"])
    (pid,) = {row["os_pid"] for row in trace._directory().processes if row["metadata"]}
    work = trace.work(pid)
    counts = {kind: sum(row["kind"] == kind for row in work) for kind in range(1, 6)}
    assert counts[KERNEL] == 20 and counts[MEMCPY] == 15 and counts[MEMSET] == 3
    assert counts[GRAPH] == 4 and counts[SYNC] >= 3
    calls = trace.calls(pid)
    assert all(
        calls[row["correlation"]]["start_ns"] <= row["start_ns"]
        for row in work
        if row["kind"] in (KERNEL, MEMCPY, MEMSET, GRAPH)
    )


def test_the_table_of_kernels_is_within_what_the_gpu_can_do() -> None:
    """No operation is faster than the H100's memory and arithmetic units allow."""
    with open(GOLDEN / "kernels.csv") as file:
        cases = list(csv.DictReader(file))
    assert len(cases) > 200
    for case in cases:
        ns, moved = float(case["gpu_ns"]), int(case["bytes"])
        assert ns > 0
        assert int(case["flops"]) / ns < 1_000_000, case  # 1 PFLOP/s
        if moved > 100_000_000:  # more than its caches hold
            assert moved / ns < 3_400, case  # GB/s

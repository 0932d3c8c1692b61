"""CUDA in panel and terminal: bounded tables whose sums are those of the relations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ground_truth.raw import GpuWork, RawProcess, RawThread, enter
from ground_truth.written import write
from support.files.facts import assert_says
from support.files.relation_rows import Relations, process, share
from support.files.report_rows import full_run

from rlscope.analysis import cuda
from rlscope.opening import load
from rlscope.report import cuda_sentences, units
from rlscope.report.panel import Drawing, Nothing
from rlscope.report.panels.cuda import PANEL
from rlscope.report.renderers.terminal import render_summary


def trace(operations: int = 5) -> Relations:
    return full_run(operations=operations, processes=2)


def summed(relations: Any, statement: str) -> list[Any]:
    (row,) = relations.sql(statement)
    return list(row)


@pytest.mark.parametrize("operations", [2, 40])
def test_operations_beyond_the_limit_are_one_row(operations: int) -> None:
    rows = cuda.operations(trace(), operations=operations)  # type: ignore[arg-type]
    assert len(rows) == min(6, operations + 1)
    assert ("(other operations)" in rows["operation"]) == (operations == 2)
    for column, relation in (("launched_ns", "gpu_time"), ("while_ns", "gpu_time"),
                             ("waiting_ns", "sync"), ("api_ns", "api_call")):  # fmt: skip
        source = "duration_ns" if column == "api_ns" else column
        (expected,) = summed(trace(), f"SELECT SUM({source}) FROM {relation}")
        assert sum(rows[column]) == expected
    kernels, graphs = summed(
        trace(), "SELECT SUM(count), (SELECT SUM(count) FROM graph) FROM kernel"
    )
    assert sum(rows["launches"]) == kernels + graphs


def test_device_times_are_those_of_the_relation() -> None:
    rows = cuda.device_times(trace(), operations=3)  # type: ignore[arg-type]
    assert set(rows["gpu"]) == {"0", "1"}
    launched, ran = summed(trace(), "SELECT SUM(launched_ns), SUM(while_ns) FROM gpu_time")
    assert (sum(rows["launched_ns"]), sum(rows["while_ns"])) == (launched, ran)


def test_kernels_of_an_operation_and_the_rest_of_them_add_up() -> None:
    rows = cuda.kernels(trace(), kernels=2, operations=3).to_dicts()  # type: ignore[arg-type]
    assert len({row["operation"] for row in rows}) == 3
    for operation in {row["operation"] for row in rows}:
        own = [row for row in rows if row["operation"] == operation]
        assert len(own) == 3
        assert sum(row["duration_ns"] for row in own) == own[0]["kernel_ns"]
        (rest,) = [row for row in own if row["function"] is None]
        assert rest["functions"] == 6 + 1 - 2  # kernels and a graph, less those that are named


def test_longest_kernels_and_the_rest_add_up() -> None:
    rows = cuda.longest_kernels(trace(), kernels=3).to_dicts()  # type: ignore[arg-type]
    assert len(rows) == 4
    assert sum(row["duration_ns"] for row in rows) == rows[0]["kernel_ns"]
    assert rows[-1]["function"] is None


def test_syncs_beyond_the_limit_are_one_row() -> None:
    rows = cuda.syncs(trace(), rows=2)  # type: ignore[arg-type]
    assert rows["operation"][-1] is None
    duration, waiting = summed(trace(), "SELECT SUM(duration_ns), SUM(waiting_ns) FROM sync")
    assert (sum(rows["duration_ns"]), sum(rows["waiting_ns"])) == (duration, waiting)


def test_copies_and_memsets_by_direction_and_memory() -> None:
    rows = cuda.copies(trace()).to_dicts()  # type: ignore[arg-type]
    kinds = {(row["direction"], row["memory"]) for row in rows}
    assert kinds == {("host_to_device", "pageable"), ("device_to_host", "pinned"),
                     ("memset", "device")}  # fmt: skip


def test_what_could_not_be_joined_is_counted_and_said() -> None:
    work = {"process_id": 0, "device": 0, "context": 1, "stream": 7, "operation": "(unlinked)"}
    call = {"process_id": 0, "operation": "a", "errors": 2, "duration_ns": 5}
    relations = Relations(
        kernel=[{**work, "count": 3, "launch_bound": 0, "duration_ns": 9}],
        memset=[{**work, "count": 2, "bytes": 1, "duration_ns": 1}],
        api_call=[
            {**call, "name": "__cudaLaunchKernel_ptsz", "calls": 7, "with_work": 3},
            {**call, "name": "cuGraphLaunch", "calls": 2, "with_work": 1},
            {**call, "name": "cudaLaunchHostFunc", "calls": 1, "with_work": 0},
            {**call, "name": "cudaMalloc", "calls": 1, "with_work": 0},
        ],
    )
    (row,) = cuda.total(relations).to_dicts()  # type: ignore[arg-type]
    assert (row["unlinked"], row["without_work"], row["launches"]) == (5, 5, 0)
    (_, problems) = cuda_sentences.totals([row])
    pieces = "5 pieces of GPU work had no launch"
    assert_says(problems, "5 launches had no GPU work", pieces, "8 CUDA calls")


def test_a_trace_without_cuda_says_why_in_one_line() -> None:
    reason = "no CUDA call was recorded: no CUPTI was found"
    relations = Relations(
        process=[process(0, 0, 4)],
        breakdown=[share(0, "a", "python", 4)],
        absent=[{"relation": "api_call", "column_name": "*", "reason": reason}],
    )
    nothing = PANEL.draw(PANEL.read(relations))  # type: ignore[arg-type]
    assert nothing == Nothing(f"{reason}.")
    lines = render_summary(relations, width=120, unicode=True).splitlines()  # type: ignore[arg-type]
    assert any(line.endswith(f": {reason}.") for line in lines)


@pytest.mark.parametrize("note", ['{"problem": "GPU work is missing"}', "{}", "no JSON"])
def test_what_was_not_recorded_beside_what_was_is_said(note: str) -> None:
    call = {"process_id": 0, "operation": "a", "name": "cudaMalloc", "calls": 1, "duration_ns": 5}
    relations = Relations(
        api_call=[{**call, "errors": 0, "with_work": 0}],
        metadata=[{"process_id": 0, "key": "cuda", "value": note}],
    )
    said = "GPU work is missing."
    drawing = PANEL.draw(PANEL.read(relations))  # type: ignore[arg-type]
    assert isinstance(drawing, Drawing)
    assert any(text.endswith(said) for text in drawing.notes) == ("missing" in note)
    text = render_summary(relations, width=120, unicode=True)  # type: ignore[arg-type]
    assert (said in text) == ("missing" in note)


def test_gpu_work_that_was_not_recorded_is_not_mentioned() -> None:
    call = {"process_id": 0, "operation": "a", "calls": 7, "duration_ns": 5, "errors": 1}
    relations = Relations(
        process=[process(0, 0, 4)],
        breakdown=[share(0, "a", "cuda_api", 4, gpu_busy=None)],
        api_call=[{**call, "name": "cudaLaunchKernel", "with_work": None}],
    )
    drawing = PANEL.draw(PANEL.read(relations))  # type: ignore[arg-type]
    assert isinstance(drawing, Drawing)
    calls, errors = drawing.notes
    assert_says(calls, "7 CUDA calls", "5 ns")
    assert_says(errors, "1 CUDA call", "error")
    assert [grid.columns for grid in drawing.grids] == [["operation", ">in CUDA calls"]]
    text = render_summary(relations, width=120, unicode=True)  # type: ignore[arg-type]
    assert "7 CUDA calls took 5 ns." in text
    assert "GPU" not in text


def test_the_summary_tells_launches_and_kernels() -> None:
    text = render_summary(trace(), width=200, unicode=True)  # type: ignore[arg-type]
    for words in ("launch-bound", "Longest kernels: "):
        assert words in text


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("void gemm<float>(float*, int)", "gemm<float>"),
        ("policy_forward(unsigned long)", "policy_forward"),
        ("void f<(Mode)1>((anonymous namespace)::Block<void (*)(int)>)", "f<(Mode)1>"),
        ("(anonymous namespace)::scan(int)", "(anonymous namespace)::scan"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        (")", ")"),
        ("", ""),
    ],
)
def test_a_kernel_is_shown_without_its_parameters(function: str, shown: str) -> None:
    assert units.kernel(function) == shown


def test_a_gpu_that_two_processes_share_is_busy_once(tmp_path: Path) -> None:
    works = [GpuWork(10_000, 50_000), GpuWork(30_000, 80_000)]
    written = [
        RawProcess(
            end_ns=100_000, threads=[RawThread([enter(0, "a")])], gpu=[work], os_pid=4242 + i
        )
        for i, work in enumerate(works)
    ]
    write(written, tmp_path / "run")
    with load(tmp_path / "run") as opened:
        (sentence, *_) = cuda_sentences.totals(cuda.total(opened).to_dicts())
    shared, _ = sentence.split(" CUDA call", 1)
    assert_says(shared.rpartition(".")[0], "GPU time", "70.0 µs", "counts once", "share", "90.0 µs")


def test_devices_of_one_number_in_two_processes_are_two_gpus_on_the_page(tmp_path: Path) -> None:
    written = [
        RawProcess(
            end_ns=100_000,
            threads=[RawThread([enter(0, "a")])],
            gpu=[GpuWork(10_000, 50_000 + 10_000 * i)],
            os_pid=4242 + i,
            metadata={"cuda": json.dumps({"visible_devices": visible})},
        )
        for i, visible in enumerate(["1,0", "GPU-5c3a"])
    ]
    write(written, tmp_path / "run")
    with load(tmp_path / "run") as opened:
        rows = cuda.device_times(opened, operations=9).to_dicts()
        drawing = PANEL.draw(PANEL.read(opened))
    owned = {row["gpu"]: row["while_ns"] for row in rows if row["operation"] == "a"}
    assert owned == {"1": 40_000, "GPU-5c3a": 50_000}
    assert isinstance(drawing, Drawing)
    (chart,) = (chart for chart in drawing.charts if chart.key == "cuda-chart")
    names = {bar["name"] for figure in chart.views.values() for bar in figure["data"]}
    assert {"GPU 1", "GPU-5c3a"} <= names

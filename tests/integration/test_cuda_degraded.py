"""CUPTI that others have, had first, or take away: recorded as far as it goes, and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cuda.runs import (
    check_calls,
    check_work,
    comparable_work,
    expected_calls,
    losses,
    note,
    since,
)
from support.cuda.scripts import compile_library, record_script
from support.cuda.simcuda_runs import PROGRAMS

from rlscope.analysis import cuda
from rlscope.opening import load
from rlscope.report.renderers.terminal import render_summary

OTHER_TOOL = """
#include <stdio.h>
int InitializeInjection(void) { puts("injected"); fflush(stdout); return 1; }
"""
LATE = """
import rlscope as rls
with rls.operation("before"):
    begin()
    work()
time.sleep({pause})
print("late", flush=True)
begun_ns = time.monotonic_ns()
work()
print(begun_ns)
"""


def test_another_tools_injection_stays_and_cuda_is_found_later(tmp_path: Path) -> None:
    tool = compile_library(tmp_path, "tool", OTHER_TOOL)
    run = record_script(tmp_path, LATE.format(pause=4), CUDA_INJECTION64_PATH=str(tool))
    first, _, begun = run.outcome.out.split()
    assert first == "injected"
    assert "CUDA_INJECTION64_PATH is another tool's and stays" in run.outcome.err
    (pid,) = run.pids()
    said = note(run, pid)
    assert "another tool" in said["problem"]
    assert said["attached_ns"] < int(begun)
    expected = since(expected_calls(run, pid), int(begun))
    assert expected.keys() == since(run.calls(pid), int(begun)).keys()
    kernels = [row for row in run.work(pid) if row["kind"] == 1]
    assert len(kernels) == 20


def test_another_tool_that_has_cupti_keeps_it(tmp_path: Path) -> None:
    output = tmp_path / "client.jsonl"
    client = {"CLIENT_OUTPUT": str(output), "CLIENT_KINDS": "10", "CLIENT_CALLBACKS": "1"}
    injected = str(PROGRAMS / "cupti_client.so")
    run = record_script(tmp_path, LATE.format(pause=4), CUDA_INJECTION64_PATH=injected, **client)
    (pid,) = run.pids()
    assert "another profiler holds CUPTI's one subscription (39)" in note(run, pid)["problem"]
    assert not run.calls(pid)
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert sum(line["event"] == "record" for line in lines) == 40


def test_without_another_record_no_process_looks_behind_another_tool(tmp_path: Path) -> None:
    tool = compile_library(tmp_path, "tool", OTHER_TOOL)
    run = record_script(tmp_path, "begin()\nwork()", CUDA_INJECTION64_PATH=str(tool))
    assert "processes that have recorded an operation" in run.outcome.err
    (absent,) = run.query("SELECT reason FROM absent WHERE relation = 'api_call'")
    assert f"CUDA_INJECTION64_PATH is another tool's ({tool})" in absent["reason"]


def test_times_that_cannot_be_are_said(tmp_path: Path) -> None:
    skewed = {"SIMCUPTI_RAW_TIMESTAMPS": "1", "SIMCUDA_GPU_SKEW": "100s"}
    run = record_script(tmp_path, "begin()\nwork()", **skewed)
    (pid,) = run.pids()
    assert note(run, pid, "cuda_times")["records"] == 40
    with load(str(run.directory)) as trace:
        (row,) = cuda.problems(trace, rows=9).to_dicts()
    assert row["problem"].startswith("times of GPU work are wrong")


REFUSALS = {
    15: "CUPTI cannot connect to the driver",
    33: "does not work on this virtual GPU",
    35: "lets only administrators profile",
    40: "hypervisor forbids profiling",
    41: "confidential computing",
    42: "mining",
    43: "MIG",
    44: "SLI",
    45: "Windows Subsystem for Linux",
    999: "cannot connect to the driver, or gives no reason",
    1000: "CUPTI refused",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_each_refusal_is_a_sentence(tmp_path: Path, status: int) -> None:
    refused = {"SIMCUPTI_SUBSCRIBE_STATUS": str(status)}
    run = record_script(tmp_path, "begin()\nwork(2)", **refused)
    problem = note(run, run.pids()[0])["problem"]
    assert problem.startswith("CUDA is not recorded: ")
    assert REFUSALS[status] in problem
    assert problem.endswith(f" ({status})")


TOO_NEW = [
    ("13.0", 12080, "CUPTI 13 is newer than the driver, which is for CUDA 12"),
    ("13.2", 13010, "CUPTI 13.2 may end the program unless the driver is for CUDA 13.2 or newer"),
]


@pytest.mark.parametrize(("release", "driver", "why"), TOO_NEW)
def test_a_cupti_that_may_be_too_new_for_the_driver_is_not_called(
    tmp_path: Path, release: str, driver: int, why: str
) -> None:
    script = "ctypes.CDLL('libcudart.so.13')\nbegin()\nwork(2)\nprint('unharmed')"
    knobs = {"SIMCUPTI_VERSION": release, "SIMCUDA_DRIVER_VERSION": str(driver)}
    run = record_script(tmp_path, script, SIMCUPTI_CONNECTION="refuse", **knobs)
    assert run.outcome.out == "unharmed\n"
    said = note(run, run.pids()[0])
    problem = f"CUDA is not recorded: {why}"
    assert said == {"library": "libcupti.so.13", "problem": problem, "missing": "all"}


@pytest.mark.parametrize("release", ["12.9", "13.0", "13.5"])
def test_a_cupti_that_cannot_connect_to_the_driver_is_a_sentence(
    tmp_path: Path, release: str
) -> None:
    knobs = {"SIMCUPTI_VERSION": release, "SIMCUPTI_CONNECTION": "refuse"}
    run = record_script(tmp_path, "begin()\nwork(2)\nprint('unharmed')", **knobs)
    assert run.outcome.out == "unharmed\n"
    said = note(run, run.pids()[0])
    assert said["problem"].startswith("CUDA is not recorded: CUPTI cannot connect to the driver")
    version = {"version"} if release != "13.5" else set()
    assert said.keys() == {"library", "problem", "missing"} | version


def test_gpu_work_that_was_refused_is_not_known_and_not_zero(tmp_path: Path) -> None:
    run = record_script(tmp_path, "begin()\nwork()", SIMCUPTI_ENABLE_STATUS="35")
    check_calls(run, run.pids()[0])
    with load(run.directory) as trace:
        assert set(trace.table("api_call")["with_work"]) == {None}
        assert set(trace.table("breakdown")["gpu_busy"]) == {None}
        words = " ".join(render_summary(trace, width=200).split())
    assert "GPU work is missing: the driver lets only administrators profile" in words
    assert "GPU time" not in words and "without GPU work" not in words


SYNCHRONIZING = """
begin()
for i in range(8):
    work(5)
    time.sleep(0.3)
"""


def test_the_hardware_event_system_is_flushed_at_synchronisations_only(tmp_path: Path) -> None:
    run = record_script(tmp_path, SYNCHRONIZING, CUPTI_ENABLE_HW_TRACE="1")
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)
    flushes = [row for row in run.outcome.truth if row.get("event") == "overhead"]
    *timely, last = flushes
    synchronized = [row["end_ns"] for row in run.outcome.calls(name="cuStreamSynchronize")]
    assert len(timely) >= 3
    assert {row["tid"] for row in timely} == {pid}
    for flush in timely:
        assert any(0 <= flush["start_ns"] - end_ns for end_ns in synchronized)
    assert last["tid"] != pid  # at the end of the process


def test_without_it_the_programs_threads_flush_nothing(tmp_path: Path) -> None:
    run = record_script(tmp_path, SYNCHRONIZING)
    (pid,) = run.pids()
    assert comparable_work(run.work(pid))
    flushes = [row for row in run.outcome.truth if row.get("event") == "overhead"]
    assert pid not in {row["tid"] for row in flushes}


@pytest.mark.parametrize("parts", ["calls", "work"])
def test_one_part_alone_is_recorded_and_the_other_is_said_to_be_missing(
    tmp_path: Path, parts: str
) -> None:
    run = record_script(tmp_path, "begin()\nwork()", prof=("--cuda-parts", parts))
    (pid,) = run.pids()
    if parts == "calls":
        check_calls(run, pid)
        assert not run.work(pid)
    else:
        check_work(run, pid)
        assert not run.calls(pid)
    missing = {"calls": "GPU work is missing", "work": "CUDA calls are missing"}[parts]
    assert note(run, pid)["problem"] == f"{missing}: --cuda-parts={parts}"
    assert note(run, pid)["missing"] == {"calls": "work", "work": "calls"}[parts]
    assert "cuda_displaced" not in losses(run)

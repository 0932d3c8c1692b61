"""Graphs that are older than what records them: launched, recorded, and no end of the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cuda.runs import CudaRun, check_calls, note
from support.cuda.scripts import compile_library, record_script
from support.cuda.trace import GRAPH, KERNEL

KERNELS, LAUNCHES = 3, 10

# `when`: the program leaves CUPTI to another profiler, as torch.profiler makes it (--cupti=yield).
GRAPHS = f"""
from rlscope.recorder import runtime

def make():
    own, graph, executable = stream(), c_void_p(), c_void_p()
    check(cuda.cuStreamBeginCapture_v2(own, 0))
    for i in range({KERNELS}):
        launch(kernel("policy_step"), own)
    check(cuda.cuStreamEndCapture(own, byref(graph)))
    check(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
    return executable, own

def replay(made):
    for i in range({LAUNCHES}):
        check(cuda.cuGraphLaunch(*made))
    check(cuda.cuStreamSynchronize(made[1]))
"""
BEGUN_IN_A_PAUSE = """
runtime.pause_cuda()
begin()
made = make()
runtime.resume_cuda()
replay(made)
"""
MADE_IN_A_PAUSE = """
begin()
runtime.pause_cuda()
made = make()
runtime.resume_cuda()
replay(made)
"""
MADE_BEFORE_A_PAUSE = """
begin()
made = make()
runtime.pause_cuda()
runtime.resume_cuda()
replay(made)
"""


def kernels_of(run: CudaRun) -> int:
    """How many kernels of graphs there are, each a record of its own."""
    (pid,) = run.pids()
    work = run.work(pid)
    assert not [row for row in work if row["kind"] == GRAPH]
    return sum(row["kind"] == KERNEL and row["graph"] != 0 for row in work)


@pytest.mark.parametrize("program", [BEGUN_IN_A_PAUSE, MADE_IN_A_PAUSE, MADE_BEFORE_A_PAUSE])
def test_after_a_pause_kernels_of_graphs_are_recorded_one_by_one(
    tmp_path: Path, program: str
) -> None:
    run = record_script(tmp_path, GRAPHS + program)
    assert kernels_of(run) == KERNELS * LAUNCHES
    assert "one by one" in note(run, run.pids()[0])["graphs"]


def test_beside_another_injection_they_are_recorded_one_by_one(tmp_path: Path) -> None:
    other = compile_library(tmp_path, "other", "int InitializeInjection(void) { return 1; }")
    program = """
import rlscope as rls
begin()
made = make()
with rls.operation("before"):
    replay(made)
time.sleep(2.5)
replay(made)
"""
    run = record_script(tmp_path, GRAPHS + program, CUDA_INJECTION64_PATH=str(other))
    assert kernels_of(run) == KERNELS * LAUNCHES


def test_from_the_beginning_a_launch_is_one_piece_of_work(tmp_path: Path) -> None:
    run = record_script(tmp_path, GRAPHS + "begin()\nreplay(make())")
    (pid,) = run.pids()
    check_calls(run, pid)
    assert sum(row["kind"] == GRAPH for row in run.work(pid)) == LAUNCHES
    assert "graphs" not in note(run, pid)

"""Windows of a run: work that their calls launched is recorded, however short they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cuda.runs import CudaRun
from support.cuda.scripts import record_script
from support.cuda.trace import KERNEL

# Rounds of 2 ms; what one launches may run when the next has begun.
ITERATIONS = """
import rlscope as rls
begin()
function, own = kernel("sim_spin_x"), stream()
for i in range({rounds}):
    rls.iteration()
    with rls.operation("act"):
        launch(function, on=own, argument=1_000_000)
        launch(function, on=own, argument=1_000_000)
    if i % 2:
        check(cuda.cuStreamSynchronize(own))
"""


def launches_and_kernels(run: CudaRun) -> tuple[set[int], set[int]]:
    """Correlation ids of recorded launches, and of kernels."""
    (pid,) = run.pids()
    calls = run.calls(pid)
    launches = {c for c, call in calls.items() if call["name"].startswith("cuLaunchKernel")}
    return launches, {row["correlation"] for row in run.work(pid) if row["kind"] == KERNEL}


@pytest.mark.parametrize(("delay", "iterations", "rounds"), [(3, 5, 12), (30, 30, 400), (1, 1, 3)])
def test_what_a_window_launched_is_recorded(
    tmp_path: Path, delay: int, iterations: int, rounds: int
) -> None:
    window = ("--delay-iterations", str(delay), "--iterations", str(iterations))
    run = record_script(tmp_path, ITERATIONS.format(rounds=rounds), prof=window)
    launches, kernels = launches_and_kernels(run)
    assert len(launches) == 2 * iterations
    assert launches <= kernels
    (row,) = run.query("SELECT sum(with_work) AS n FROM api_call WHERE name LIKE 'cuLaunchKernel%'")
    assert row["n"] == len(launches)
    truth = {row["correlation"]: row for row in run.outcome.operations(kind="kernel")}
    assert kernels <= truth.keys()


def test_work_long_after_the_window_is_not_kept(tmp_path: Path) -> None:
    script = ITERATIONS.format(rounds=12) + (
        "time.sleep(1.5)\nfor _ in range(10):\n    launch(function, on=own)\ntime.sleep(0.5)\n"
    )
    run = record_script(tmp_path, script, prof=("--iterations", "5"))
    launches, kernels = launches_and_kernels(run)
    assert len(launches) == 10
    assert launches <= kernels
    late = {row["correlation"] for row in run.outcome.operations(kind="kernel", name="sim_spin_x")}
    assert len(late) == 34
    assert len(kernels) <= 24


def test_programs_own_stop_and_start(tmp_path: Path) -> None:
    script = """
import rlscope as rls
begin()
function, own = kernel("sim_spin_x"), stream()
for i in range(5):
    rls.start()
    launch(function, on=own, argument=3_000_000)
    rls.stop()
check(cuda.cuStreamSynchronize(own))
"""
    run = record_script(tmp_path, script)
    launches, kernels = launches_and_kernels(run)
    assert len(launches) == 5
    assert launches <= kernels

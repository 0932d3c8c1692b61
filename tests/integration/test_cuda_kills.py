"""CUDA programs that SIGKILL ends at any moment: what is lost is bounded, and the trace loads."""

from __future__ import annotations

import os
import random
import statistics
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.cuda.runs import CudaRun, comparable_work, expected_calls, expected_work, record_cuda
from support.cuda.simcuda_runs import PROGRAMS

KILLS = int(os.environ.get("RLSCOPE_TEST_KILLS", "20"))
THREADS = 3
PERIOD_NS = 200_000_000  # of the flushes; a busy machine makes some late


@dataclass
class Loss:
    """What one killed process lost."""

    calls: int
    gpu_ns: int
    """From the end of the first lost piece of GPU work to the kill."""


def kill_after(folder: Path, milliseconds: int) -> Loss:
    program = [str(PROGRAMS / "training13"), "1000000", str(THREADS), "kill", str(milliseconds)]
    run = record_cuda(folder, program, code=-9)
    (pid,) = run.pids()
    recorded = run.calls(pid)
    expected = expected_calls(run, pid)
    # Both sides write a call down after its end: a kill may fall between the two.
    assert len(recorded.keys() - expected.keys()) <= THREADS + 1
    check_nothing_is_made_up(run, pid)
    assert run.query("SELECT sum(duration_ns) AS ns FROM breakdown")[0]["ns"] > 0
    return Loss(len(expected.keys() - recorded.keys()), lost_gpu_ns(run, pid))


def check_nothing_is_made_up(run: CudaRun, pid: int) -> None:
    known = set(expected_work(run, pid))
    strange = [row for row in comparable_work(run.work(pid)) if row not in known]
    assert len(strange) <= THREADS + 1


def lost_gpu_ns(run: CudaRun, pid: int) -> int:
    killed_ns = max(row["end_ns"] for row in run.outcome.calls(pid=pid))
    kept = {row["correlation"] for row in run.work(pid)}
    lost = [
        row["end_ns"]
        for row in run.outcome.operations(pid=pid, kind="kernel")
        if row["graph"] == 0 and row["correlation"] not in kept
    ]
    return max(0, killed_ns - min(lost, default=killed_ns))


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> list[Loss]:
    folder, moments = tmp_path_factory.mktemp("kills"), random.Random(4)
    return [kill_after(folder, moments.randrange(1, 700)) for _ in range(KILLS)]


def test_calls_in_flight_are_all_the_calls_that_are_lost(losses: list[Loss]) -> None:
    assert max(loss.calls for loss in losses) <= THREADS + 1


def test_gpu_work_of_the_last_flush_period_is_all_that_is_lost(losses: list[Loss]) -> None:
    assert statistics.median(loss.gpu_ns for loss in losses) < 1.25 * PERIOD_NS
    assert max(loss.gpu_ns for loss in losses) < 5 * PERIOD_NS

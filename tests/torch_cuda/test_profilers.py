"""PyTorch's own profiler on the simulated CUDA counts what rlscope counts, and lives beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from support.cuda.runs import check_calls, check_work
from support.cuda.simcuda_runs import having, run_simulated
from support.cuda.torch_cuda_runs import demangled, record_training, train

pytestmark = pytest.mark.torch_cuda


def test_its_kernels_are_those_of_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "kernels.json"
    alone = run_simulated(tmp_path, train("--profiler", str(file)))
    assert alone.code == 0, alone.err
    seen = [name for name, _ in json.loads(file.read_text())]
    run = record_training(tmp_path)
    recorded = run.work(run.pids()[0])
    kernels = Counter(demangled(row["name"]) for row in recorded if row["kind"] == 1)
    assert Counter(name for name in seen if name in kernels) == kernels
    others = Counter(name.partition(" ")[0] for name in seen if name not in kernels)
    assert others["Memcpy"] == sum(row["kind"] == 2 for row in recorded) > 0
    assert others["Memset"] == sum(row["kind"] == 3 for row in recorded)


def test_inside_a_recorded_program_it_goes_on_without_the_gpu(tmp_path: Path) -> None:
    file = tmp_path / "kernels.json"
    run = record_training(tmp_path, "--profiler", str(file))
    (pid,) = run.pids()
    assert json.loads(file.read_text()) == []
    check_calls(run, pid)
    check_work(run, pid)


@pytest.mark.parametrize("when", [(), ("--around",)])
def test_it_gets_cupti_where_that_is_wanted(tmp_path: Path, when: tuple[str, ...]) -> None:
    file = tmp_path / "kernels.json"
    run = record_training(tmp_path, "--profiler", str(file), *when, prof=("--cupti", "yield"))
    (pid,) = run.pids()
    names = [name for name, _ in json.loads(file.read_text())]
    happened = Counter(demangled(row["name"]) for row in run.outcome.operations(kind="kernel"))
    theirs = Counter(name for name in names if name in happened)
    ours = Counter(demangled(row["name"]) for row in run.work(pid) if row["kind"] == 1)
    assert theirs and bool(ours) == bool(when)
    assert ours + theirs == happened
    (loss,) = run.query("SELECT count FROM loss WHERE kind = 'cuda_paused'")
    assert loss["count"] == 1
    gaps = json.loads(run.metadata(pid)["cuda_gaps"])
    assert gaps["count"] == 1 and gaps["duration_ns"] > 0


def test_windows_do_not_end_cupti_beside_it(tmp_path: Path) -> None:
    """It goes on without the GPU, and all that was recorded before it goes on to be."""
    file = tmp_path / "kernels.json"
    auto = ("--gpu-share", "auto")
    run = record_training(tmp_path, "--profiler", str(file), prof=auto, RLSCOPE_TEST_GPU_WINDOW="2")
    assert json.loads(file.read_text()) == []
    assert not having(run.outcome.truth, type="cupti", event="finalized")
    check_work(run, run.pids()[0])
    alone = record_training(tmp_path / "alone", prof=auto, RLSCOPE_TEST_GPU_WINDOW="2")
    assert len(having(alone.outcome.truth, type="cupti", event="finalized")) > 1

"""PyTorch trains on the simulated CUDA under rls-prof, and the trace has all of it."""

from __future__ import annotations

import subprocess
from collections import Counter
from typing import Any

import pytest
from support.cuda.runs import PROF, CudaRun, check_calls, check_work
from support.cuda.simcuda_runs import Row
from support.cuda.torch_cuda_runs import record_training

pytestmark = pytest.mark.torch_cuda

TRAININGS = 6  # of the program, each with one backward()


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> CudaRun:
    return record_training(tmp_path_factory.mktemp("training"))


def pid_of(run: CudaRun) -> int:
    (pid,) = run.pids()
    return pid


def launches_of_autograd(run: CudaRun) -> list[Row]:
    """Launches of threads that PyTorch made for itself."""
    pid = pid_of(run)
    return [
        row
        for row in run.outcome.calls(pid=pid, depth=0)
        if row["tid"] != pid and "Launch" in row["name"]
    ]


def test_every_call_and_all_gpu_work_is_in_the_trace(training: CudaRun) -> None:
    check_calls(training, pid_of(training))
    check_work(training, pid_of(training))
    assert len(training.outcome.operations(kind="kernel")) > 200
    assert not training.query("SELECT * FROM loss")


def test_every_kernel_has_a_launch_in_the_trace(training: CudaRun) -> None:
    pid = pid_of(training)
    calls = training.calls(pid)
    kernels = [row for row in training.work(pid) if row["kind"] == 1]
    assert {row["correlation"] for row in kernels} <= calls.keys()
    assert {calls[row["correlation"]]["name"] for row in kernels} >= {"__cudaLaunchKernel"}


def test_the_report_has_cuda(training: CudaRun) -> None:
    rlscope = PROF.with_name("rlscope")
    done = subprocess.run(
        [rlscope, "report", training.directory], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    page = (training.directory / "report.html").read_text()
    assert "cuda_api" in page and "backprop" in page


def test_operations_keep_the_gpu_busy(training: CudaRun) -> None:
    rows = training.query("""SELECT operation, sum(duration_ns)::BIGINT AS ns FROM breakdown
                             WHERE gpu_busy GROUP BY operation""")
    busy = {row["operation"]: row["ns"] for row in rows}
    assert busy["inference"] > 0 and busy["backprop"] > 0
    assert "simulation" not in busy


def test_backward_launches_from_threads_of_its_own(training: CudaRun) -> None:
    launches = launches_of_autograd(training)
    assert len(launches) >= 4 * TRAININGS
    assert {row["correlation"] for row in launches} <= training.calls(pid_of(training)).keys()


def autograd_time(run: CudaRun) -> list[dict[str, Any]]:
    (tid,) = {row["tid"] for row in launches_of_autograd(run)}
    return run.query(f"""SELECT layer, is_python, sum(duration_ns)::BIGINT AS ns
                         FROM breakdown_by_thread JOIN thread USING (process_id, thread_id)
                         WHERE os_tid = {tid} GROUP BY ALL""")


def test_a_backward_in_python_is_python_time_of_autograds_thread(training: CudaRun) -> None:
    layers = {row["layer"]: row["ns"] for row in autograd_time(training)}
    assert layers["python"] > 0 and layers["cuda_api"] > 0
    # Outside of its calls the thread waits, and is nobody's.
    assert layers["none"] > layers["python"] + layers["cuda_api"]
    assert not any(row["is_python"] for row in autograd_time(training))


def launching_operations(run: CudaRun) -> Counter[str]:
    """Kernels by the operation in which the truth has their launch, whichever thread made it."""
    instances = run.query("""SELECT path, start_ns, start_ns + duration_ns AS end_ns
                             FROM operation_instance JOIN operation USING (operation_id)
                             WHERE path IN ('inference', 'simulation', 'backprop')""")
    launches = {row["correlation"]: row["start_ns"] for row in run.outcome.calls(depth=0)}
    counts: Counter[str] = Counter()
    for kernel in run.outcome.operations(kind="kernel"):
        start_ns = launches[kernel["correlation"]]
        found = [row["path"] for row in instances if row["start_ns"] <= start_ns < row["end_ns"]]
        counts[found[0] if found else "(none)"] += 1
    return counts


def test_kernels_of_autograds_threads_belong_to_the_operation_around_backward(
    training: CudaRun,
) -> None:
    rows = training.query('SELECT operation, sum("count")::BIGINT AS n FROM kernel GROUP BY ALL')
    found = {row["operation"]: row["n"] for row in rows}
    assert found == launching_operations(training)
    autograd = {row["correlation"] for row in launches_of_autograd(training)}
    kernels = training.outcome.operations(kind="kernel")
    theirs = sum(row["correlation"] in autograd for row in kernels)
    assert found["backprop"] > theirs >= 3 * TRAININGS


def test_gpu_time_of_backprop_is_the_union_of_what_it_launched(training: CudaRun) -> None:
    (row,) = training.query("""SELECT while_ns, launched_ns FROM gpu_time
                               WHERE operation = 'backprop'""")
    assert 0 < row["while_ns"] and 0 < row["launched_ns"]
    (sums,) = training.query("""SELECT sum(duration_ns)::BIGINT AS ns FROM kernel
                                WHERE operation = 'backprop'""")
    assert row["launched_ns"] >= 0.9 * sums["ns"]  # one stream: kernels take turns

"""Why a GPU is idle: the reasons of calls of CUDA, on the simulated CUDA, against its own truth."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from support.cuda.runs import CudaRun, record_cuda
from support.cuda.simcuda_runs import PREAMBLE

import rlscope as rls

# Each operation makes calls of one reason, but for those that need others before them.
PROGRAM = """
import rlscope as rls

spin = kernel("sim_spin_act")
memory = allocate(1 << 16)
host = (ctypes.c_char * (1 << 16))()
pinned = c_void_p()
check(cuda.cuMemHostAlloc(byref(pinned), c_size_t(1 << 16), 0))
mine = stream()

for _ in range(20):
    with rls.operation("launches"):
        for _ in range(20):
            launch(spin, on=mine, argument=1_000)
    with rls.operation("waits"):
        launch(spin, on=mine, argument=2_000_000)
        check(cuda.cuStreamSynchronize(mine))
    with rls.operation("sends"):
        check(cuda.cuMemcpyHtoDAsync_v2(memory, host, c_size_t(1 << 16), mine))
        check(cuda.cuStreamSynchronize(mine))
    with rls.operation("sends pinned"):
        check(cuda.cuMemcpyHtoDAsync_v2(memory, pinned, c_size_t(1 << 16), mine))
        check(cuda.cuStreamSynchronize(mine))
    with rls.operation("fetches"):
        check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), mine))
    with rls.operation("allocates"):
        check(cuda.cuMemFree_v2(allocate(1 << 20)))
    with rls.operation("loads"):
        kernel("sim_spin_act")
    with rls.operation("sleeps"):
        launch(spin, on=mine, argument=3_000_000)
        time.sleep(0.002)
    check(cuda.cuStreamSynchronize(mine))
"""
# By operation and beginning of the name of the call.
REASONS = {
    ("launches", "cuLaunchKernel"): "launch",
    ("waits", "cuLaunchKernel"): "launch",
    ("waits", "cuStreamSynchronize"): "synchronisation",
    ("sends", "cuMemcpyHtoDAsync"): "copy",
    ("sends", "cuStreamSynchronize"): "copy",
    ("sends pinned", "cuMemcpyHtoDAsync"): "launch",
    ("sends pinned", "cuStreamSynchronize"): "synchronisation",
    ("fetches", "cuMemcpyDtoHAsync"): "synchronisation",
    ("allocates", "cuMem"): "allocation",
    ("loads", "cuModule"): "compilation",
    ("sleeps", "cuLaunchKernel"): "launch",
}

Times = Counter[tuple[str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CudaRun:
    folder = tmp_path_factory.mktemp("idle")
    script = folder / "script.py"
    script.write_text(PREAMBLE + PROGRAM)
    return record_cuda(folder, [sys.executable, str(script)])


@pytest.fixture(scope="module")
def reasons(run: CudaRun) -> Times:
    with rls.load(str(run.directory)) as trace:
        rows = trace.sql(
            "SELECT operation, reason, SUM(duration_ns)::BIGINT FROM idle "
            "WHERE layer = 'cuda_api' GROUP BY ALL"
        )
        return Counter({(operation, reason): ns for operation, reason, ns in rows})


def called(run: CudaRun) -> Times:
    """The time of the calls by operation and the reason that is right for them."""
    times: Times = Counter()
    with rls.load(str(run.directory)) as trace:
        for operation, name, ns in trace.sql("SELECT operation, name, duration_ns FROM api_call"):
            for (of, prefix), reason in REASONS.items():
                if of == operation and name.startswith(prefix):
                    times[operation, reason] += ns
    return times


def test_each_call_has_the_reason_of_its_kind(run: CudaRun, reasons: Times) -> None:
    """One thread makes all calls, so that their times are those of the layer, to the nanosecond."""
    operations = {operation for operation, _ in REASONS}
    found = Counter({key: ns for key, ns in reasons.items() if key[0] in operations})
    assert found == called(run)


def test_the_gpu_is_busy_in_the_part_of_a_wait_that_waits_for_it(run: CudaRun) -> None:
    """All work is on one stream, so that the GPU is busy while the stream is."""
    with rls.load(str(run.directory)) as trace:
        busy = trace.sql(
            "SELECT operation, SUM(duration_ns)::BIGINT FROM idle WHERE gpu_busy AND reason IN "
            "('synchronisation', 'copy') AND operation IN ('waits', 'sends pinned') GROUP BY ALL"
        )
        waiting = trace.sql(
            "SELECT operation, SUM(waiting_ns)::BIGINT FROM sync "
            "WHERE operation IN ('waits', 'sends pinned') GROUP BY ALL"
        )
        assert dict(busy) == {operation: ns for operation, ns in waiting if ns > 0}
        assert dict(busy)["waits"] > 0

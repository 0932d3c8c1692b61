"""Stretches in which CUPTI's records go to somebody else of the program's: counted gaps."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cuda.runs import (
    CudaRun,
    check_calls,
    check_work,
    expected_calls,
    losses,
    note,
    since,
)
from support.cuda.scripts import compile_library, record_script
from support.cuda.simcuda_runs import Row

# Another client of CUPTI's: takes the buffers for itself, and keeps what it is given.
THIEF = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
static void Give(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = malloc(*size = 1 << 16);
  *most = 0;
}
static void Take(void* c, uint32_t s, uint8_t* buffer, size_t size, size_t valid) {}
int Steal(void) {
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW);
  return ((int (*)(void*, void*))dlsym(cupti, "cuptiActivityRegisterCallbacks"))(Give, Take);
}
"""
STOLEN = """
begin()
work()
time.sleep(1)
check(ctypes.CDLL({thief!r}).Steal())
for i in range({rounds}):
    work(2)
    time.sleep(0.1)
"""


def test_buffers_that_go_to_another_client_are_a_counted_gap(tmp_path: Path) -> None:
    thief = compile_library(tmp_path, "thief", THIEF)
    run = record_script(tmp_path, STOLEN.format(thief=str(thief), rounds=20))
    (pid,) = run.pids()
    check_calls(run, pid)
    assert losses(run)["cuda_displaced"] == 1
    gaps = note(run, pid, "cuda_gaps")
    last_kernel = max(row["end_ns"] for row in run.work(pid) if row["kind"] == 1)
    assert gaps["count"] == 1
    assert gaps["since_ns"] > last_kernel


BEFORE_ANY_RECORD = """
begin()
check(ctypes.CDLL({thief!r}).Steal())
work(2)
time.sleep(0.1)
"""
BEFORE_THE_END = """
begin()
work()
time.sleep(1)
check(ctypes.CDLL({thief!r}).Steal())
for i in range(4):
    work(20)
    time.sleep(0.1)
"""
BESIDE_EVENTS = """
begin()
work()
time.sleep(1)
check(ctypes.CDLL({thief!r}).Steal())
function, done, own = kernel("policy_step"), event(), stream()
for i in range(20):
    launch(function, on=own)
    check(cuda.cuEventRecord(done, own))
    check(cuda.cuEventSynchronize(done))
    time.sleep(0.1)
"""
BESIDE_COPIES = """
begin()
work()
time.sleep(1)
check(ctypes.CDLL({thief!r}).Steal())
memory, host = allocate(1 << 12), (ctypes.c_char * (1 << 12))()
for i in range(20):
    check(cuda.cuMemcpyDtoH_v2(host, memory, c_size_t(64)))
    time.sleep(0.1)
"""


@pytest.mark.parametrize(
    "script",
    [BEFORE_ANY_RECORD, BEFORE_THE_END, BESIDE_EVENTS, BESIDE_COPIES],
    ids=["before any record", "before the end", "beside events", "beside copies"],
)
def test_the_gap_is_noticed_early_late_and_by_any_wait(tmp_path: Path, script: str) -> None:
    thief = compile_library(tmp_path, "thief", THIEF)
    run = record_script(tmp_path, script.format(thief=str(thief)))
    (pid,) = run.pids()
    check_calls(run, pid)
    assert losses(run)["cuda_displaced"] == 1


QUIET = {
    "waits without work": "begin()\nfor _ in range(3):\n"
    "    check(cuda.cuCtxSynchronize())\n    time.sleep(0.8)",
    "a wait at the very end": "begin()\nwork()\ntime.sleep(1)\nwork(1)",
    "work without a wait": "begin()\nwork()\ntime.sleep(1)\n"
    'launch(kernel("policy_step"))\ntime.sleep(1)',
}


@pytest.mark.parametrize("script", QUIET.values(), ids=QUIET.keys())
def test_there_is_no_gap_where_nothing_was_taken(tmp_path: Path, script: str) -> None:
    run = record_script(tmp_path, script)
    assert not losses(run)


LONG_KERNEL = """
begin()
work()
time.sleep(1)
launch(kernel("sim_spin_long"), argument=3_000_000_000)
time.sleep(2.5)
check(cuda.cuCtxSynchronize())
time.sleep(1)
"""


def test_a_long_kernel_is_no_gap(tmp_path: Path) -> None:
    run = record_script(tmp_path, LONG_KERNEL)
    check_work(run, run.pids()[0])
    assert not losses(run)


YIELDED = """
from rlscope import _runtime
begin()
work()
_runtime.pause_cuda()
_runtime.pause_cuda()
cupti, subscriber = ctypes.CDLL("libcupti.so.13"), c_void_p()
callback = ctypes.CFUNCTYPE(None, c_void_p, c_uint, c_uint, c_void_p)(lambda *_: None)
print(time.monotonic_ns())
check(cupti.cuptiSubscribe(byref(subscriber), callback, None))
work()
check(cupti.cuptiUnsubscribe(subscriber)) if {leaves} else None
print(time.monotonic_ns())
_runtime.resume_cuda()
_runtime.resume_cuda()
work()
"""


def yielded(run: CudaRun, pid: int) -> tuple[dict[int, Row], dict[int, Row]]:
    """Expected calls outside of the pause and after it."""
    paused, resumed = (int(word) for word in run.outcome.out.split())
    expected = expected_calls(run, pid)
    after = since(expected, resumed)
    return {k: r for k, r in expected.items() if r["end_ns"] < paused} | after, after


def test_a_pause_lets_another_subscriber_in_and_is_a_counted_gap(tmp_path: Path) -> None:
    run = record_script(tmp_path, YIELDED.format(leaves=True))
    (pid,) = run.pids()
    expected, _ = yielded(run, pid)
    assert run.calls(pid).keys() == expected.keys()
    assert sum(row["kind"] == 1 for row in run.work(pid)) == 40
    assert losses(run) == {"cuda_paused": 1}
    gaps = note(run, pid, "cuda_gaps")
    assert gaps["count"] == 1 and gaps["duration_ns"] > 0 and "since_ns" not in gaps


def test_a_subscriber_that_stays_leaves_the_gpu_work_to_us(tmp_path: Path) -> None:
    run = record_script(tmp_path, YIELDED.format(leaves=False))
    (pid,) = run.pids()
    expected, after = yielded(run, pid)
    assert run.calls(pid).keys() == expected.keys() - after.keys()
    assert sum(row["kind"] == 1 for row in run.work(pid)) == 40
    problem = note(run, pid)["problem"]
    assert "CUDA calls are missing after a pause" in problem
    assert problem.endswith("holds CUPTI's one subscription (39)")  # it gave CUPTI no name


# A profiler that counts time in units of its own, as Kineto does (ticks of the TSC).
OWN_CLOCK = """
from rlscope import _runtime
begin()
work()
_runtime.pause_cuda()
cupti = ctypes.CDLL("libcupti.so.13")
ticks = ctypes.CFUNCTYPE(c_uint64)(lambda: 3 * time.monotonic_ns())
check(cupti.cuptiActivityRegisterTimestampCallback(ticks))
_runtime.resume_cuda()
print(time.monotonic_ns())
work()
print(time.monotonic_ns())
"""


def test_after_a_pause_times_are_by_our_clock_again(tmp_path: Path) -> None:
    run = record_script(tmp_path, OWN_CLOCK)
    (pid,) = run.pids()
    begin, end = map(int, run.outcome.out.split())
    times = [row["start_ns"] for row in run.work(pid) if row["kind"] == 1]
    assert sum(begin <= start <= end for start in times) == 20
    check_work(run, pid)


# A profiler that keeps the subscription when it ends, and ends CUPTI as a whole a moment later, as
# Kineto does with TEARDOWN_CUPTI=1.
TORN_DOWN = """
from rlscope import _runtime
begin()
work()
_runtime.pause_cuda()
cupti, subscriber = ctypes.CDLL("libcupti.so.13"), c_void_p()
callback = ctypes.CFUNCTYPE(None, c_void_p, c_uint, c_uint, c_void_p)(lambda *_: None)
check(cupti.cuptiSubscribe(byref(subscriber), callback, None))
_runtime.resume_cuda()
check(cupti.cuptiFinalize())
print(time.monotonic_ns())
work()
time.sleep(3)
print(time.monotonic_ns())
work()
"""


def test_where_another_profiler_ends_cupti_all_is_taken_anew(tmp_path: Path) -> None:
    run = record_script(tmp_path, TORN_DOWN)
    (pid,) = run.pids()
    ended, again = map(int, run.outcome.out.split())
    expected = since(expected_calls(run, pid), again)
    assert expected and since(run.calls(pid), again).keys() == expected.keys()
    starts = [row["start_ns"] for row in run.work(pid) if row["kind"] == 1]
    assert sum(start >= again for start in starts) == 20
    assert losses(run)["cuda_paused"] == 2
    gaps = note(run, pid, "cuda_gaps")
    assert gaps["count"] == 2 and "since_ns" not in gaps
    assert gaps["duration_ns"] > 500_000_000
    assert ended < note(run, pid)["resumed_ns"] < again

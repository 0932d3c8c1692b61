"""Windows of GPU work (--gpu-share) beside threads, children, graphs, and other profilers."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from support.cuda.boundaries import NS_TOLERATED
from support.cuda.runs import CudaRun, losses, note
from support.cuda.trace import GRAPH, KERNEL
from support.cuda.windows import (
    WINDOW,
    check_cupti,
    check_windows,
    events,
    has_near,
    iterations,
    launched,
    pid_of,
    record,
    recorded_starts,
    seen,
    starts_in_windows,
)

WORK_ON_ANOTHER_STREAM = """
other = stream()

def slow(i):
    launch(kernel("sim_spin_slow"), on=other, argument=30_000_000)
    body(i)

iterate(slow, 8)
time.sleep(1)
check(cuda.cuCtxSynchronize())
"""


def test_work_that_a_window_cannot_wait_for_is_counted(tmp_path: Path) -> None:
    run = record(tmp_path, WORK_ON_ANOTHER_STREAM)
    kernels = len(starts_in_windows(run))
    lost = losses(run)["gpu_unfinished"]
    assert lost > 0
    assert len(recorded_starts(run)) + lost == kernels


THREADS = """
import threading

def work_beside(stop):
    mine = stream()
    while not stop.is_set():
        for k in range(5):
            launch(function, on=mine, argument=k)
        check(cuda.cuStreamSynchronize(mine))

def start():
    check(cuda.cuCtxSetCurrent(context))
    work_beside(stop)

context, stop = c_void_p(), threading.Event()
check(cuda.cuCtxGetCurrent(byref(context)))
threads = [threading.Thread(target=start) for _ in range(3)]
for thread in threads:
    thread.start()
iterate(body, 400)
stop.set()
for thread in threads:
    thread.join()
"""


def test_nothing_of_other_threads_is_missing_unsaid(tmp_path: Path) -> None:
    run = record(tmp_path, THREADS, SIMCUPTI_RESTART_CORRELATIONS="0")
    check_cupti(run, stays=True)
    recorded = recorded_starts(run)
    found = losses(run)
    said = found.get("gpu_window_edge", 0) + found.get("gpu_unfinished", 0)
    assert len(missing_in_windows(run)) <= said
    truth = sorted(row["start_ns"] for _, row in launched(run))
    assert all(has_near(truth, start) for start in recorded)
    assert len(recorded) < len(truth)


LATE = """
turn = runtime.turn_gpu

def turn_late(recorded):
    if recorded:
        launch(function, on=own)
    return turn(recorded)

runtime.turn_gpu = turn_late
iterate(body)
"""


def test_work_between_the_begin_of_an_iteration_and_its_window_is_said(tmp_path: Path) -> None:
    """As another thread launches it while the window opens."""
    run = record(tmp_path, LATE)
    assert all(has_near(recorded_starts(run), start) for start in starts_in_windows(run))
    assert sum(row["gpu_recorded"] for row in iterations(run)) == 7 * WINDOW - 6


def missing_in_windows(run: CudaRun) -> set[int]:
    """Numbers of launches. A window may end between the begin of a call and its number: then it has
    none of the later numbers."""
    pid = pid_of(run)
    recorded = {row["correlation"] for row in run.work(pid) if row["kind"] == KERNEL}
    ends = {row["correlation"]: row["end_ns"] for row in run.outcome.calls(pid=pid)}
    missing = set()
    for first, end in seen(run):
        numbers = {row["correlation"] for begin, row in launched(run) if first <= begin < end}
        last = max(numbers & recorded, default=0)
        missing |= {each for each in numbers - recorded if each < last or ends[each] < end}
    return missing


KILLED = """
def killed(i):
    body(i)
    if i == {at}:
        time.sleep(1)
        os.kill(os.getpid(), 9)

iterate(killed)
"""


@pytest.mark.parametrize("at", [3, 20, 150], ids=["in the first window", "between", "later"])
def test_a_killed_process_leaves_a_trace_that_says_what_was_seen(tmp_path: Path, at: int) -> None:
    run = record(tmp_path, "import os\n" + KILLED.format(at=at), code=-signal.SIGKILL)
    rows = iterations(run)
    assert len(rows) == at + 1
    recorded, expected = recorded_starts(run), starts_in_windows(run)
    # The window in which it died has no end: the last iteration is not known to be whole.
    last_ns = rows[-1]["start_ns"]
    assert [s for s in recorded if s < last_ns] == pytest.approx(expected, abs=NS_TOLERATED)


FORKED = """
import os

def forking(i):
    body(i)
    if i % 20 == 7:
        child = os.fork()
        if child == 0:
            for _ in range(100):
                rls.iteration()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

iterate(forking)
"""


def test_fork_children_live_and_change_nothing(tmp_path: Path) -> None:
    run = record(tmp_path, FORKED)
    process = "process_id = (SELECT MIN(process_id) FROM process)"
    rows = run.query(f"SELECT gpu_recorded FROM iteration WHERE {process}")
    assert sum(row["gpu_recorded"] for row in rows) == 7 * WINDOW
    children = run.query("SELECT gpu_recorded, complete FROM iteration WHERE NOT " + process)
    assert all(row["gpu_recorded"] == row["complete"] for row in children)
    check_cupti(run, stays=True)


GRAPHS = """
def make():
    graph, executable = c_void_p(), c_void_p()
    check(cuda.cuStreamBeginCapture_v2(own, 0))
    for i in range(3):
        launch(function, own)
    check(cuda.cuStreamEndCapture(own, byref(graph)))
    check(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
    return executable

made = [make()]

def replay(i):
    if i == 30:
        made.append(make())
    for each in made:
        check(cuda.cuGraphLaunch(each, own))
    wait()

iterate(replay)
"""


def test_graphs_are_recorded_kernel_by_kernel_in_all_windows(tmp_path: Path) -> None:
    run = record(tmp_path, GRAPHS)
    assert not [row for row in run.work(pid_of(run)) if row["kind"] == GRAPH]
    check_windows(run)
    assert "one by one" in note(run, pid_of(run))["graphs"]


CAPTURING = """
runtime_api = ctypes.CDLL("libcudart.so.13")
captured, graph, relaxed = stream(), c_void_p(), 2

def capture(i):
    if i == 10:
        check(runtime_api.cudaStreamBeginCapture(captured, relaxed))
    body(i)
    if i == 200:
        check(runtime_api.cudaStreamEndCapture(captured, byref(graph)))

iterate(capture)
"""


def test_cupti_is_not_attached_during_a_capture(tmp_path: Path) -> None:
    """It is before and after it."""
    run = record(tmp_path, CAPTURING)
    check_windows(run)
    check_cupti(run, stays=True)
    recorded = [row["gpu_recorded"] for row in iterations(run)]
    assert not any(recorded[11:200])
    assert sum(recorded[:11]) == WINDOW and sum(recorded[200:]) >= WINDOW


PAUSED = """
def paused(i):
    if i == {begin}:
        runtime.pause_cuda()
    body(i)
    if i == {end}:
        runtime.resume_cuda()

iterate(paused)
"""


@pytest.mark.parametrize("begin", [2, 20], ids=["in a window", "between windows"])
@pytest.mark.parametrize("length", [0, 120])
def test_another_profiler_can_have_cupti(tmp_path: Path, begin: int, length: int) -> None:
    run = record(tmp_path, PAUSED.format(begin=begin, end=begin + length))
    found = losses(run)
    assert found.pop("cuda_paused") == 1
    expected, recorded = starts_in_windows(run), recorded_starts(run)
    assert all(has_near(recorded, start) for start in expected)
    # Beside those, a part of the iterations in which the pause began and ended.
    assert len(recorded) <= len(expected) + 2 * 6
    assert found == {
        "gpu_unrecorded": sum(r["complete"] and not r["gpu_recorded"] for r in iterations(run))
    }


BEGINS_LATER = """
WHOLE, RECORDED, CLOSING, OFF = range(4)

def end():
    wait()
    assert runtime.turn_gpu(False) == CLOSING
    wait()

assert runtime.turn_gpu(True) == RECORDED
runtime.pause_cuda()
assert runtime.turn_gpu(True) == runtime.turn_gpu(False) == CLOSING
runtime.resume_cuda()
runtime.keep_cupti(True)
assert runtime.turn_gpu(True) == runtime.turn_gpu(False) == CLOSING
end()
runtime.keep_cupti(False)
launch(function, on=own)
assert runtime.turn_gpu(False) == CLOSING
launch(function, on=own)
end()
assert runtime.turn_gpu(False) == OFF
runtime.keep_cupti(True)
assert runtime.turn_gpu(True) == OFF
runtime.keep_cupti(False)
assert runtime.turn_gpu(True) == RECORDED
runtime.pause_cuda()
assert runtime.turn_gpu(True) == OFF
runtime.resume_cuda()
assert runtime.turn_gpu(True) == RECORDED
launch(function, on=own)
assert runtime.turn_gpu(False) == CLOSING
runtime.keep_cupti(True)
end()
assert runtime.turn_gpu(False) == CLOSING
"""


def test_no_window_begins_or_ends_beside_another_profiler(tmp_path: Path) -> None:
    """One that has CUPTI, or works beside rlscope. With auto, the first one begins later."""
    run = record(tmp_path, BEGINS_LATER, "--gpu-share", "auto")
    assert events(run, "finalized") == 1
    assert len(recorded_starts(run)) == 2
    assert losses(run) == {"cuda_paused": 2}

"""GPU work in windows (--gpu-share): exact inside them, nothing at their edges unsaid."""

from __future__ import annotations

import json
import signal
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest
from support.cuda.boundaries import NS_TOLERATED
from support.cuda.runs import CudaRun, check_calls, expected_calls, losses, note
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import Row, having
from support.cuda.trace import GRAPH, KERNEL

import rlscope as rls
from rlscope.analysis import cuda, gpu_windows
from rlscope.report import cuda_sentences, panels
from rlscope.report.panel import Drawing
from rlscope.report.renderers import json as json_renderer
from rlscope.report.renderers.terminal import render_summary

WINDOW = 5
# `iterate(body)` runs so many iterations, and a last one in which nothing is done.
LOOP = """
import rlscope as rls
from rlscope.recorder import runtime

begin()
function, own = kernel("policy_step"), stream()
memory, host = allocate(1 << 12), (ctypes.c_char * (1 << 12))()

def wait():
    check(cuda.cuStreamSynchronize(own))

def body(i):
    for k in range(3 + i % 4):
        launch(function, on=own, argument=i)
    check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), own))
    wait()

def iterate(body, iterations=300):
    for i in range(iterations):
        rls.iteration()
        body(i)
    rls.iteration()
"""


def record(folder: Path, program: str, *prof: str, code: int = 0, **environment: str) -> CudaRun:
    """The program after LOOP, with a tenth of its iterations in windows of WINDOW."""
    share = () if "--gpu-share" in prof else ("--gpu-share", "10%")
    settings = {"RLSCOPE_TEST_GPU_WINDOW": str(WINDOW), **environment}
    return record_script(folder, LOOP + program, prof=(*share, *prof), code=code, **settings)


def pid_of(run: CudaRun) -> int:
    return run.pids()[0]


def events(run: CudaRun, event: str) -> int:
    """How often CUPTI was so."""
    return len(having(run.outcome.truth, type="cupti", event=event))


def iterations(run: CudaRun) -> list[Row]:
    return run.query("SELECT start_ns, complete, gpu_recorded FROM iteration ORDER BY start_ns")


def seen(run: CudaRun) -> list[tuple[int, int]]:
    """Spans in which all GPU work of the iterations' thread was recorded."""
    rows = iterations(run)
    ends = [row["start_ns"] for row in rows[1:]]
    found = [(0, rows[0]["start_ns"])]
    found += [
        (row["start_ns"], end) for row, end in zip(rows, ends, strict=False) if row["gpu_recorded"]
    ]
    return found


def launched(run: CudaRun, kind: str = "kernel") -> list[tuple[int, Row]]:
    """Operations of the truth, with the begin of the call that submitted each."""
    pid = pid_of(run)
    begins = {
        row["correlation"]: row["start_ns"]
        for row in run.outcome.calls(pid=pid)
        if not row["depth"]
    }
    rows = having(run.outcome.operations(pid=pid), kind=kind)
    return [(begins[row["correlation"]], row) for row in rows]


def starts_in_windows(run: CudaRun) -> list[int]:
    spans = seen(run)
    firsts = [first for first, _ in spans]
    found = []
    for begin, row in launched(run):
        span = spans[bisect_right(firsts, begin) - 1]
        if span[0] <= begin < span[1]:
            found.append(row["start_ns"])
    return sorted(found)


def recorded_starts(run: CudaRun) -> list[int]:
    return sorted(row["start_ns"] for row in run.work(pid_of(run)) if row["kind"] == KERNEL)


def check_windows(run: CudaRun) -> None:
    """Windows have all kernels that were launched in them, each at its time, and no other."""
    expected, recorded = starts_in_windows(run), recorded_starts(run)
    assert len(recorded) == len(expected)
    assert all(abs(a - b) < NS_TOLERATED for a, b in zip(recorded, expected, strict=True))
    rows = iterations(run)
    unseen = sum(row["complete"] and not row["gpu_recorded"] for row in rows)
    assert losses(run) == {"gpu_unrecorded": unseen}


def check_cupti(run: CudaRun, *, stays: bool) -> None:
    """CUPTI is ended after each window, and nothing attaches it in between."""
    assert events(run, "attached") == events(run, "finalized") + stays > 2


@pytest.mark.parametrize("restarts", ["0", "1"])
def test_a_window_has_the_kernels_that_were_launched_in_it(tmp_path: Path, restarts: str) -> None:
    run = record(tmp_path, "iterate(body)", SIMCUPTI_RESTART_CORRELATIONS=restarts)
    check_windows(run)
    check_cupti(run, stays=True)
    recorded = sum(row["gpu_recorded"] for row in iterations(run))
    assert recorded == 7 * WINDOW  # the begin, and one in each cycle of 50
    if restarts == "0":
        check_calls(run, pid_of(run))


def test_numbers_of_calls_and_work_fit_where_cupti_counts_anew(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)", SIMCUPTI_RESTART_CORRELATIONS="1")
    pid = pid_of(run)
    calls = run.calls(pid)
    assert len(calls) == len(expected_calls(run, pid))
    names = {calls[row["correlation"]]["name"] for row in run.work(pid) if row["kind"] == KERNEL}
    assert names == {"cuLaunchKernel"}


def test_gpu_columns_are_null_and_loss_says_why(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)")
    assert run.query("SELECT DISTINCT gpu_busy FROM breakdown") == [{"gpu_busy": None}]
    keys = run.query(
        "SELECT operation, layer, count(*) AS n FROM breakdown GROUP BY ALL HAVING n > 1"
    )
    assert not keys
    (absent,) = run.query(
        "SELECT reason FROM absent WHERE relation = 'breakdown' AND column_name = 'gpu_busy'"
    )
    assert "--gpu-share" in absent["reason"]


def test_reasons_know_the_state_of_the_gpu_in_windows_only(tmp_path: Path) -> None:
    """Of the first iteration of a window it is not, because CUPTI is attached in it."""
    run = record(tmp_path, "iterate(body)")
    rows = run.query(
        "SELECT gpu_busy IS NULL AS unknown, SUM(duration_ns) AS ns FROM idle GROUP BY ALL"
    )
    ns = {row["unknown"]: row["ns"] for row in rows}
    spans = run.query(
        "SELECT start_ns, duration_ns, gpu_recorded AND LAG(gpu_recorded, 1, TRUE) OVER "
        "(ORDER BY iteration) AS known FROM iteration ORDER BY iteration"
    )
    (begin,) = run.query("SELECT start_ns FROM process")
    before_ns = spans[0]["start_ns"] - begin["start_ns"]
    assert ns[False] == before_ns + sum(row["duration_ns"] for row in spans if row["known"])
    (whole,) = run.query("SELECT SUM(duration_ns) AS ns FROM breakdown")
    assert ns[False] + ns[True] == whole["ns"]


def test_iterations_in_windows_have_what_they_launched(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)")
    rows = run.query("SELECT kernels, busy_ns, gpu_recorded FROM iteration ORDER BY iteration")
    for i, row in enumerate(rows[:300]):
        assert row["kernels"] == (3 + i % 4 if row["gpu_recorded"] else None)
    (total,) = run.query(
        "SELECT SUM(busy_ns) AS ns, (SELECT SUM(while_ns) FROM gpu_time) AS all_ns FROM iteration"
    )
    assert total["ns"] == total["all_ns"]


def test_the_summary_says_which_share_was_seen(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)")
    with rls.load(run.directory) as trace:
        total = cuda.total(trace).to_dicts()
    assert "in 35 of 300 iterations, 11.7 %" in cuda_sentences.totals(total)[0]
    whole = [{**total[0], "seen": 0, "iterations": 0}]
    assert cuda_sentences.totals(whole) == cuda_sentences.totals(total)[1:]


SAME = "iterate(lambda i: [launch(function, on=own) for k in range(4)] and wait())"


def test_page_terminal_and_json_say_what_all_iterations_launched(tmp_path: Path) -> None:
    run = record(tmp_path, SAME)
    with rls.load(run.directory) as trace:
        told = json.loads(json_renderer.render(trace))["panels"]
        shown = " ".join(render_summary(trace).split())
        drawn = _drawn("cuda", trace)
        notes = [*drawn.notes, *_drawn("quality", trace).notes]
        assert "11.7 % of the iterations" in _drawn("idle", trace).notes[-1]
        titles = [each.title for each in (*drawn.charts, *drawn.grids)]
    (found,) = told["cuda"]["gpu_estimate"]
    kernels = [found[name] for name in ("kernels", "kernels_low", "kernels_high")]
    assert (found["seen"], found["iterations"], kernels) == (35, 300, [1200] * 3)
    assert 0 < found["busy_ns_low"] <= found["busy_ns"] <= found["busy_ns_high"]
    (cost,) = told["quality"]["gpu_window_cost"]
    assert cost["windows"] == 6
    assert cost["share_low"] <= cost["share"] <= cost["share_high"]
    for said in ("seen in 11.7 % of the iterations", "about 1,200 kernels", "in 7 windows took"):
        assert said in shown
        assert any(said in note for note in notes)
    assert titles and all(each.endswith("; seen in 11.7 % of the iterations") for each in titles)


def _drawn(panel: str, trace: Any) -> Drawing:
    found = dict(panels.load())[panel]
    drawn = found.draw(found.read(trace))
    assert isinstance(drawn, Drawing)
    return drawn


def test_a_short_program_is_recorded_whole(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)", "--gpu-share", "auto", RLSCOPE_TEST_GPU_WINDOW="0")
    assert not losses(run)
    assert len(recorded_starts(run)) == len(launched(run))
    rows = iterations(run)
    assert [row["gpu_recorded"] for row in rows] == [row["complete"] for row in rows]


def test_calls_can_be_left_out_between_windows(tmp_path: Path) -> None:
    run = record(tmp_path, "iterate(body)", "--gpu-calls", "windows")
    check_windows(run)
    check_cupti(run, stays=False)
    calls, expected = run.calls(pid_of(run)), expected_calls(run, pid_of(run))
    spans = seen(run)
    in_windows = {
        number
        for number, row in expected.items()
        if any(first <= row["start_ns"] < end for first, end in spans)
    }
    assert in_windows <= calls.keys()
    assert len(calls) < len(expected) // 5


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


def has_near(sorted_ns: list[int], time_ns: int) -> bool:
    at = bisect_right(sorted_ns, time_ns - NS_TOLERATED)
    return at < len(sorted_ns) and sorted_ns[at] < time_ns + NS_TOLERATED


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


FEW = """
def rest(i):
    body(i)
    time.sleep(0.01)

iterate(rest, 60)
"""


def test_a_program_that_launches_little_is_recorded_whole_and_says_why(tmp_path: Path) -> None:
    """With graphs as one piece of work each."""
    auto = ("--gpu-share", "auto")
    run = record_script(tmp_path, LOOP + FEW, prof=auto, RLSCOPE_TEST_GPU_STRETCH="0.1")
    assert not losses(run)
    assert len(recorded_starts(run)) == len(launched(run))
    assert events(run, "finalized") == 0
    busy = run.query("SELECT DISTINCT gpu_busy FROM breakdown ORDER BY gpu_busy")
    assert [row["gpu_busy"] for row in busy] == [False, True]
    with rls.load(run.directory) as trace:
        (choice,) = gpu_windows.choices(trace).to_dicts()
        shown = " ".join(render_summary(trace).split())
    assert (choice["recorded"], choice["why"]) == ("all", "few_launches")
    assert "All GPU work was recorded, because" in shown


ASKED = """
for k in range(10):
    launch(function, own)
wait()
time.sleep(1)
assert runtime.gpu_launches() == 10
assert not runtime.has_traced_graphs()
graph, executable = c_void_p(), c_void_p()
check(cuda.cuStreamBeginCapture_v2(own, 0))
launch(function, own)
check(cuda.cuStreamEndCapture(own, byref(graph)))
check(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
assert runtime.has_traced_graphs() == (os.environ["RLSCOPE_GPU_SHARE"] == "auto")
"""


@pytest.mark.parametrize("share", ["auto", "10%"])
def test_what_auto_decides_by_is_known(tmp_path: Path, share: str) -> None:
    run = record(tmp_path, "import os\n" + ASKED, "--gpu-share", share)
    assert not losses(run)


NEVER_WAITS = "iterate(lambda i: launch(function, on=own, argument=i), 100)"


def test_without_a_wait_the_window_stays_and_its_kernels_count_as_before(tmp_path: Path) -> None:
    run = record(tmp_path, NEVER_WAITS)
    check_windows(run)
    assert events(run, "finalized") == 0
    assert sum(row["gpu_recorded"] for row in iterations(run)) == WINDOW


@pytest.mark.parametrize("release", ["12.5.82", "11.8.87"])
def test_an_old_cupti_records_all(tmp_path: Path, release: str) -> None:
    run = record(tmp_path, "iterate(body)", SIMCUPTI_VERSION=release)
    assert len(recorded_starts(run)) == len(launched(run))
    assert not losses(run)
    assert events(run, "finalized") == 0
    assert "12.6" in note(run, pid_of(run))["gpu_share"]
    with rls.load(run.directory) as trace:
        assert "12.6" in gpu_windows.choices(trace).to_dicts()[0]["problem"]


def test_where_iterations_are_unknown_all_is_recorded(tmp_path: Path) -> None:
    run = record(tmp_path, "for i in range(100): body(i)")
    assert len(recorded_starts(run)) == len(launched(run))
    assert not losses(run)

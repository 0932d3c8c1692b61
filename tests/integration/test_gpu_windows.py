"""GPU work in windows (--gpu-share): exact inside them, nothing at their edges unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cuda.runs import CudaRun, check_calls, expected_calls, losses, note
from support.cuda.scripts import record_script
from support.cuda.trace import KERNEL
from support.cuda.windows import (
    LOOP,
    WINDOW,
    check_cupti,
    check_windows,
    events,
    iterations,
    launched,
    pid_of,
    record,
    recorded_starts,
    seen,
)

import rlscope as rls
from rlscope.analysis import cuda, gpu_windows
from rlscope.report import cuda_sentences, panels
from rlscope.report.panel import Drawing
from rlscope.report.renderers import json as json_renderer
from rlscope.report.renderers.terminal import render_summary


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CudaRun]:
    """The usual program, recorded once where numbers of calls go on, and once where they begin anew
    when CUPTI does."""
    return {
        restarts: record(
            tmp_path_factory.mktemp(f"restarts{restarts}"),
            "iterate(body)",
            SIMCUPTI_RESTART_CORRELATIONS=restarts,
        )
        for restarts in ("0", "1")
    }


@pytest.fixture
def run(runs: dict[str, CudaRun]) -> CudaRun:
    return runs["0"]


@pytest.mark.parametrize("restarts", ["0", "1"])
def test_a_window_has_the_kernels_that_were_launched_in_it(
    runs: dict[str, CudaRun], restarts: str
) -> None:
    run = runs[restarts]
    check_windows(run)
    check_cupti(run, stays=True)
    recorded = sum(row["gpu_recorded"] for row in iterations(run))
    assert recorded == 7 * WINDOW  # the begin, and one in each cycle of 50
    if restarts == "0":
        check_calls(run, pid_of(run))


def test_numbers_of_calls_and_work_fit_where_cupti_counts_anew(runs: dict[str, CudaRun]) -> None:
    run = runs["1"]
    pid = pid_of(run)
    calls = run.calls(pid)
    assert len(calls) == len(expected_calls(run, pid))
    names = {calls[row["correlation"]]["name"] for row in run.work(pid) if row["kind"] == KERNEL}
    assert names == {"cuLaunchKernel"}


def test_gpu_columns_are_null_and_loss_says_why(run: CudaRun) -> None:
    assert run.query("SELECT DISTINCT gpu_busy FROM breakdown") == [{"gpu_busy": None}]
    keys = run.query(
        "SELECT operation, layer, count(*) AS n FROM breakdown GROUP BY ALL HAVING n > 1"
    )
    assert not keys
    (absent,) = run.query(
        "SELECT reason FROM absent WHERE relation = 'breakdown' AND column_name = 'gpu_busy'"
    )
    assert "--gpu-share" in absent["reason"]


def test_reasons_know_the_state_of_the_gpu_in_windows_only(run: CudaRun) -> None:
    """Of the first iteration of a window it is not, because CUPTI is attached in it."""
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


def test_iterations_in_windows_have_what_they_launched(run: CudaRun) -> None:
    rows = run.query("SELECT kernels, busy_ns, gpu_recorded FROM iteration ORDER BY iteration")
    for i, row in enumerate(rows[:300]):
        assert row["kernels"] == (3 + i % 4 if row["gpu_recorded"] else None)
    (total,) = run.query(
        "SELECT SUM(busy_ns) AS ns, (SELECT SUM(while_ns) FROM gpu_time) AS all_ns FROM iteration"
    )
    assert total["ns"] == total["all_ns"]


def test_the_summary_says_which_share_was_seen(run: CudaRun) -> None:
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

"""What CUPTI costs, of programs on the simulated CUDA whose callbacks and activity records take a
known time; and CUPTI switched by parts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from support.cuda.loop import BEGIN, CALLS_MADE, LAUNCHES, LOOP, QUERIES, SUBMITTED, costs, program
from support.cuda.runs import losses
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import DECLARATIONS, Outcome, run_simulated
from support.cuda.trace import GRAPH, KERNEL
from support.process.known_costs import in_turns, rlscope
from support.process.traced_python import TracedPython

from rlscope.costs.calibrations import CudaRun, Store
from rlscope.recorder import runtime
from rlscope.rundir import turns_file
from rlscope.rundir.turns_file import BARE, CALLS, CPU, RECORDED, WORK

# GPU work of which the call has no callbacks.
UNLINKED = "gpu_work_without_launch"
CALLBACK_NS, ACTIVITY_NS = 10_000, 40_000
COSTS = costs(CALLBACK_NS, ACTIVITY_NS)


def turns(folder: Path, script: str, **environment: str) -> tuple[Any, list[turns_file.Block]]:
    """A run in turns of all modes: what was recorded, and its blocks."""
    file = folder / "turns"
    modes = ",".join((BARE, RECORDED, *turns_file.OF_CUDA))
    run = record_script(
        folder,
        LOOP + script,
        prof=("--no-probes", "--no-waits"),
        RLSCOPE_TURNS=f"{modes}:{file}",
        **environment,
    )
    return run, turns_file.read(file)


def test_blocks_have_the_callbacks_and_records_of_their_mode(tmp_path: Path) -> None:
    _, blocks = turns(tmp_path, "begin()\ntrain(2500)", **COSTS)
    spent: dict[str, list[float]] = defaultdict(list)
    for block in blocks:
        if block.measured:
            spent[block.mode].append(block.cpu_ns / block.iterations)
    assert spent.keys() == {BARE, RECORDED, CPU, CALLS, WORK}
    # Other programs empty the caches, and never fill them.
    ns = {mode: min(times) for mode, times in spent.items()}
    calls_ns, work_ns = CALLS_MADE * 2 * CALLBACK_NS, SUBMITTED * ACTIVITY_NS
    assert ns[CPU] - ns[BARE] == pytest.approx(0, abs=0.2 * calls_ns)
    assert ns[CALLS] - ns[CPU] == pytest.approx(calls_ns, rel=0.35)
    assert ns[WORK] - ns[CPU] == pytest.approx(work_ns, rel=0.35)
    assert ns[RECORDED] - ns[CPU] == pytest.approx(calls_ns + work_ns, rel=0.35)


def test_what_is_not_of_its_mode_is_not_in_the_trace_and_is_no_loss(tmp_path: Path) -> None:
    """Also where the program waits for so long that CUPTI would be thought to have been taken."""
    run, blocks = turns(tmp_path, "begin()\ntrain(2500)\ntime.sleep(1)\ntrain(200)")
    (pid,) = run.pids()
    iterations = {
        mode: sum(block.iterations for block in blocks if block.mode == mode)
        for mode in (BARE, RECORDED, CPU, CALLS, WORK)
    }
    assert all(iterations.values())
    # The last block is in the trace, and not among the blocks where it was not whole.
    rest = 2 * max(block.iterations for block in blocks)
    calls = len(run.calls(pid))
    whole = CALLS_MADE * (iterations[RECORDED] + iterations[CALLS])
    assert whole <= calls <= whole + CALLS_MADE * (rest + 3)
    kernels = sum(row["kind"] == KERNEL for row in run.work(pid))
    whole = LAUNCHES * (iterations[RECORDED] + iterations[WORK])
    assert whole <= kernels <= whole + LAUNCHES * (rest + 3)
    assert losses(run).keys() == {UNLINKED}


def test_a_process_without_cuda_has_rounds_of_two(traced: TracedPython, tmp_path: Path) -> None:
    assert not runtime.has_cuda()
    assert not runtime.switch_cuda(False, False)
    with pytest.raises(TypeError):
        runtime.switch_cuda(True)  # type: ignore[call-arg]
    script = "for _ in range(400):\n    rls.iteration()\n    spin(300_000)"
    _, blocks = turns(tmp_path, script)
    assert {block.mode for block in blocks} == {BARE, RECORDED}


SWITCHED = """
from rlscope.recorder import runtime

def switch(calls, work):
    runtime.hold(True)
    assert runtime.switch_cuda(calls, work)
    runtime.hold(False)

def graph():
    own, made, executable = stream(), c_void_p(), c_void_p()
    check(cuda.cuStreamBeginCapture_v2(own, 0))
    launch(kernel("policy_step"), own)
    check(cuda.cuStreamEndCapture(own, byref(made)))
    check(cuda.cuGraphInstantiateWithFlags(byref(executable), made, c_uint64(0)))
    return executable, own

begin()
"""


def in_trace(run: Any) -> tuple[int, int, int]:
    """Launches, kernels and graphs."""
    (pid,) = run.pids()
    kinds = [row["kind"] for row in run.work(pid)]
    launches = [row for row in run.calls(pid).values() if row["name"].startswith("cuLaunchKernel")]
    return len(launches), kinds.count(KERNEL), kinds.count(GRAPH)


@pytest.mark.parametrize(
    ("parts", "launches", "kernels"),
    [("False, False", 40, 40), ("True, False", 60, 40), ("False, True", 40, 60)],
)
def test_parts_of_cupti_are_left_out_and_come_back(
    tmp_path: Path, parts: str, launches: int, kernels: int
) -> None:
    """For longer than it takes to notice that somebody else has CUPTI."""
    script = f"""
work(20)
switch({parts})
work(10)
time.sleep(1.2)
work(10)
switch(True, True)
work(20)
"""
    run = record_script(tmp_path, SWITCHED + script)
    assert in_trace(run) == (launches, kernels, 0)
    assert losses(run).keys() == ({UNLINKED} if kernels > launches else set())


def test_graphs_that_were_made_meanwhile_can_be_launched(tmp_path: Path) -> None:
    script = """
switch(False, False)
made = graph()
switch(True, True)
check(cuda.cuGraphLaunch(*made))
check(cuda.cuStreamSynchronize(made[1]))
"""
    run = record_script(tmp_path, SWITCHED + script)
    assert in_trace(run) == (0, 0, 1)
    assert not losses(run)


def test_parts_stay_left_out_behind_a_pause(tmp_path: Path) -> None:
    """torch.profiler had CUPTI in between, and the switch came before it, or in it."""
    script = """
{0}
runtime.pause_cuda()
{1}
runtime.resume_cuda()
work(10)
switch(True, True)
work(20)
"""
    for order in (("switch(False, False)", ""), ("", "switch(False, False)")):
        run = record_script(tmp_path, SWITCHED + script.format(*order))
        assert in_trace(run) == (20, 20, 0)
        assert set(losses(run)) == {"cuda_paused"}


def test_threads_that_are_inside_calls_lose_none_later(tmp_path: Path) -> None:
    """A call that is open while callbacks are taken out has no end for the recorder."""
    script = """
import threading
ended = False

def wait():
    primary()
    while not ended:
        launch(kernel("sim_spin_short"), argument=300_000)
        check(cuda.cuCtxSynchronize())

waiting = threading.Thread(target=wait)
waiting.start()
for _ in range(100):
    switch(False, False)
    time.sleep(0.001)
    switch(True, True)
    time.sleep(0.001)
ended = True
waiting.join()
thread = threading.Thread(target=lambda: (primary(), work(20)))
thread.start()
thread.join()
"""
    run = record_script(tmp_path, SWITCHED + script)
    (pid,) = run.pids()
    names = [row["name"] for row in run.calls(pid).values()]
    assert names.count("cuMemcpyDtoHAsync_v2") == 20
    assert losses(run).keys() <= {UNLINKED}


def command(
    folder: Path, verb: str, *arguments: str, text: str = program(2500), within: str = "30%"
) -> Outcome:
    """A verb of rlscope with a program of LOOP, on the simulated CUDA."""
    file = folder / "train.py"
    file.write_text(text)
    told = in_turns(verb, *arguments, "--within", within, sys.executable, str(file))
    return run_simulated(folder, told, truth=False, **COSTS)


def test_the_cost_of_cuda_calls_is_found_and_taken_out(
    traced: TracedPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    done = command(tmp_path, "calibrate")
    assert done.code == 0, done.err
    assert "CUPTI's callbacks of CUDA calls add " in done.err
    ((_, runs),) = Store(str(tmp_path / "train.py")).subjects()
    assert len(runs) >= 3
    for run in runs:
        assert isinstance(run.cuda, CudaRun)
        assert run.cuda.calls == pytest.approx(CALLS_MADE, rel=0.005)
        assert run.cuda.submissions == pytest.approx(SUBMITTED, rel=0.005)
        assert run.cuda.calls_ns / run.cuda.calls == pytest.approx(2 * CALLBACK_NS, rel=0.35)
        assert run.cuda.work_ns / run.cuda.submissions == pytest.approx(ACTIVITY_NS, rel=0.35)
        assert abs(run.cuda.others_ns) < 0.2 * run.added_ns

    done = command(tmp_path, "validate", "--json")
    found = json.loads(done.out)
    assert found["inflation_percent"] > 100
    assert abs(found["bias_percent"]) < found["inflation_percent"] / 3
    assert found["method"].startswith("`rlscope calibrate` (")


def test_too_few_rounds_with_cuda_are_not_kept(
    traced: TracedPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA begins when there are pairs enough of iterations without it, and the program ends before
    they are precise."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    script = f"""
for _ in range(1500):
    rls.iteration()
    with rls.operation("work"):
        spin(300_000)
{BEGIN}
train(200)
"""
    done = command(tmp_path, "calibrate", text=DECLARATIONS + LOOP + script, within="0.001%")
    assert done.code == 1
    assert "rounds of iterations with CUDA, fewer than 10: let it run" in done.err
    assert Store(str(tmp_path / "train.py")).subjects() == []


def test_without_a_calibration_it_is_said_that_the_cost_is_not_measured(tmp_path: Path) -> None:
    run = record_script(tmp_path, LOOP + "begin()\ntrain(1000)")
    assert not run.query("SELECT * FROM calibration WHERE kind LIKE 'CUDA %'")
    counts = run.query(
        "SELECT kind, SUM(count) AS count, SUM(overhead_ns) AS ns FROM overhead "
        "WHERE kind LIKE 'CUDA %' GROUP BY kind ORDER BY kind"
    )
    # Beside those of the loop: making the kernel.
    by_kind = {row["kind"]: row["count"] for row in counts}
    assert by_kind["CUDA submission"] == 1000 * SUBMITTED
    assert 0 <= by_kind["CUDA call"] - 1000 * QUERIES < 10
    assert [row["ns"] for row in counts] == [None, None]
    said = subprocess.run(
        rlscope("summary", str(run.directory)), capture_output=True, text=True, check=True
    ).stdout
    told = " ".join(said.split())
    assert "What recording CUDA took is not measured" in told
    assert "without what CUDA's records took" in told

"""Pollers beside the truth: NVML's utilisation of a GPU that two processes share, as the simulated
devices used it, and CPU of a process that works and of one that waits."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cuda.boundaries import NS_TOLERATED
from support.cuda.runs import CudaRun
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import having
from support.process.traced_python import TracedPython

from rlscope.opening import load

SECOND_GPU = "GPU-51515151-5151-5151-5151-515151515101"
# A kernel of 2 ms, and at least 40 ms without one: each uses 4.8 % of the time at most.
SHORT_KERNELS = f"""
import multiprocessing

def work(started, visible):
    os.environ["CUDA_VISIBLE_DEVICES"] = visible
    begin()
    function, own = kernel("sim_spin"), stream()
    started.wait()
    for _ in range(40):
        launch(function, on=own, argument=2_000_000)
        check(cuda.cuStreamSynchronize(own))
        time.sleep(0.04)

if __name__ == "__main__":
    spawned = multiprocessing.get_context("spawn")
    started = spawned.Barrier(2)
    children = [
        spawned.Process(target=work, args=(started, visible)) for visible in ("1", "{SECOND_GPU}")
    ]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0]
"""
POLLED = {
    "SIMCUDA_DEVICES": "2",
    "SIMCUDA_NVML": "present",
    "SIMCUDA_NVML_PERIOD": "200ms",
    "SIMCUDA_NVML_WINDOW": "200ms",
}

Span = tuple[int, int]


def machine_windows(run: CudaRun) -> list[Span]:
    spans: list[Span] = []
    for row in run.query("SELECT start_ns, duration_ns FROM recording_window ORDER BY start_ns"):
        start, end = row["start_ns"], row["start_ns"] + row["duration_ns"]
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def counted_steps(run: CudaRun, gpu: int) -> list[tuple[Span, int]]:
    """Steps that lie in a window, each with what NVML answered at its end, by its own word."""
    answers = [row["percent"] for row in having(run.outcome.truth, type="nvml", gpu=gpu)]
    read = [
        json.loads(line)
        for line in (run.directory / "machine.jsonl").read_text().splitlines()
        if f'"gpu{gpu}_percent"' in line
    ]
    assert [row["value"] for row in read] == answers
    times = [row["time_ns"] for row in read]
    return [
        (step, answer)
        for step, answer in zip(itertools.pairwise(times), answers[1:], strict=True)
        if any(start <= step[0] and step[1] <= end for start, end in machine_windows(run))
    ]


def busy_ns(run: CudaRun, gpu: int, steps: list[Span]) -> int:
    """The union of the kernels of all processes in these steps, by the truth."""
    spans = sorted(
        (row["start_ns"], row["end_ns"]) for row in run.outcome.operations(kind="kernel", gpu=gpu)
    )
    busy = until = 0
    for start, end in spans:
        start = max(start, until)
        until = max(until, end)
        busy += sum(max(0, min(end, last) - max(start, first)) for first, last in steps)
    return busy


def utilisation(run: CudaRun) -> dict[int, dict[str, Any]]:
    rows = run.query("SELECT * FROM utilisation WHERE kind = 'gpu' ORDER BY gpu")
    return {row["gpu"]: row for row in rows}


def test_short_kernels_of_two_processes_look_like_a_busy_gpu_to_pollers(tmp_path: Path) -> None:
    run = record_script(tmp_path, SHORT_KERNELS, prof=("--sample-seconds", "0.2"), **POLLED)
    found = utilisation(run)
    assert set(found) == {0, 1}
    assert (found[0]["polled_percent"], found[0]["busy_ns"]) == (0, 0)
    steps = counted_steps(run, gpu=1)
    length = sum(end - start for (start, end), _ in steps)
    mean = sum(answer * (end - start) for (start, end), answer in steps) / length
    assert found[1]["duration_ns"] == length
    assert found[1]["readings"] == len(steps)
    assert found[1]["polled_percent"] == pytest.approx(mean)
    # The processes call the GPU by two names.
    right = busy_ns(run, 1, [step for step, _ in steps])
    assert right > 0
    assert abs(found[1]["busy_ns"] - right) <= 160 * NS_TOLERATED  # 80 kernels with two ends
    assert found[1]["polled_percent"] > 3 * 100 * found[1]["busy_ns"] / length


def test_where_work_is_not_recorded_the_busy_time_is_unknown_and_not_nothing(
    tmp_path: Path,
) -> None:
    options = ("--sample-seconds", "0.2", "--cuda", "off")
    run = record_script(tmp_path, SHORT_KERNELS, prof=options, **POLLED)
    found = utilisation(run)
    assert found[1]["polled_percent"] > 0
    assert [row["busy_ns"] for row in found.values()] == [None, None]
    reasons = run.query("SELECT reason FROM absent WHERE relation = 'utilisation'")
    assert [row["reason"][:37] for row in reasons] == [
        "GPU work of a process is not known, or"[:37]
    ]


# The child works until it has used two seconds of a core; the parent waits for it.
WORKER = """
import subprocess, sys, time
import rlscope as rls
with rls.operation("work" if sys.argv[1:] else "wait"):
    if sys.argv[1:]:
        while time.process_time() < 2: sum(range(1000))
    else:
        subprocess.run([sys.executable, __file__, "work"], check=True)
"""


@pytest.mark.usefixtures("clean_environment")
def test_a_process_that_works_and_one_that_waits(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    traced.run("--sample-seconds", "0.1", "-o", directory, traced.python, str(program))
    with load(directory) as trace:
        waits, works = trace.sql(
            "SELECT utilisation.*, process.cpu_ns AS whole_cpu_ns FROM utilisation"
            " JOIN process USING (process_id) WHERE kind = 'process' ORDER BY process_id"
        ).to_dicts()
        (machine,) = trace.sql("SELECT * FROM utilisation WHERE kind = 'machine'").to_dicts()
        ((cores, busiest),) = trace.sql(
            "SELECT count(*), max(polled_percent) FROM utilisation WHERE kind = 'core'"
        )
    assert works["polled_percent"] > waits["polled_percent"]
    assert works["busy_ns"] > works["waiting_ns"] < waits["waiting_ns"] > waits["busy_ns"]
    # Two ticks of the kernel's accounting.
    assert 0 < works["cpu_ns"] <= works["whole_cpu_ns"] + 20_000_000
    for row in (works, waits):
        assert row["busy_ns"] + row["cuda_api_ns"] + row["waiting_ns"] <= row["duration_ns"] + 3
    assert works["cpu_ns"] <= machine["cpu_ns"] <= machine["duration_ns"] * cores
    assert 0 < busiest <= 100


# Two processes on one core. Each works for a while, then sleeps for a while. At each change it
# reads the clock, and its CPU time as the scheduler counts it; reading is a part of the work.
ON_ONE_CORE = """
import json, os, sys, time
core, work, rest = (float(each) for each in sys.argv[2:5])
os.sched_setaffinity(0, {int(core)})

now = time.perf_counter_ns

def cpu():
    with open("/proc/self/schedstat") as file:
        return int(file.read().split()[0])

began, readings = now(), []
while (changed := now()) - began < 4e9:
    while now() - changed < work * 1e9:
        pass
    used = cpu()
    readings.append((now(), used))
    time.sleep(rest)
    readings.append((now(), cpu()))
with open(sys.argv[1], "w") as file:
    json.dump(readings, file)
"""
TICKS_NS = 20_000_000  # two of the kernel's accounting
# Seconds of work and of rest.
PARTS = {"first": ("0.06", "0.03"), "second": ("0.02", "0.05")}


def between(readings: list[list[int]], span: Span) -> float:
    """How far what was read beside the time rose."""
    first, last = np.interp(span, *zip(*readings, strict=True))
    return float(last - first)


def parts_within(readings: list[list[int]], first: int, span: Span) -> int:
    """Time of every second stretch between readings."""
    stretches = list(itertools.pairwise(time_ns for time_ns, _ in readings))[first::2]
    return sum(max(0, min(end, span[1]) - max(start, span[0])) for start, end in stretches)


class CoreReader:
    """Reads all the while what the kernel says of a core: its busy ticks, and all ticks."""

    def __init__(self, core: int) -> None:
        self.busy: list[list[int]] = []
        self.whole: list[list[int]] = []
        self._core = core
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> CoreReader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(0.02):
            lines = Path("/proc/stat").read_text().splitlines()
            (line,) = (line for line in lines if line.startswith(f"cpu{self._core} "))
            ticks = [int(each) for each in line.split()[1:9]]  # user to steal
            now = time.perf_counter_ns()
            self.busy.append([now, sum(ticks) - ticks[3] - ticks[4]])  # idle, and for the disk
            self.whole.append([now, sum(ticks)])


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel does not count")
def test_shares_are_those_that_the_processes_measured(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    """Within 5 %, however busy the machine is with other things."""
    program = tmp_path / "part.py"
    program.write_text(ON_ONE_CORE)
    core = max(os.sched_getaffinity(0))
    commands = [
        f"'{traced.python}' '{program}' '{tmp_path / name}' {core} {' '.join(times)}"
        for name, times in PARTS.items()
    ]
    script = f"{commands[0]} & {commands[1]}; wait"
    options = ("--sample-seconds", "0.1", "-o", directory)
    with CoreReader(core) as on_core:
        traced.run(*options, "sh", "-c", script).check_returncode()
    with load(directory) as trace:
        processes = trace.sql(
            "SELECT utilisation.*, program, python_start_ns, python_end_ns"
            " FROM utilisation JOIN process USING (process_id)"
            " WHERE kind = 'process' AND program LIKE '%part.py%'"
        ).to_dicts()
        rows = trace.sql("SELECT * FROM utilisation WHERE kind IN ('core', 'machine')").to_dicts()
    assert len(processes) == len(PARTS)
    (machine,) = (row for row in rows if row["kind"] == "machine")
    (polled,) = (row for row in rows if row["core"] == core)
    all_cpu_ns = 0.0
    for row in processes:
        (name,) = (name for name in PARTS if str(tmp_path / name) in row["program"])
        readings = json.loads((tmp_path / name).read_text())
        # What Python does before and behind the loop is work.
        readings = [[row["python_start_ns"], 0], *readings, [row["python_end_ns"], readings[-1][1]]]
        span = row["start_ns"], row["end_ns"]
        assert row["duration_ns"] == span[1] - span[0] > 3e9
        polled_ns = row["polled_percent"] / 100 * row["duration_ns"]
        assert row["cpu_ns"] == pytest.approx(polled_ns, abs=1)
        assert polled_ns == pytest.approx(between(readings, span), rel=0.05, abs=TICKS_NS)
        assert row["busy_ns"] == pytest.approx(parts_within(readings, 0, span), rel=0.05)
        assert row["waiting_ns"] == pytest.approx(parts_within(readings, 1, span), rel=0.05)
        all_cpu_ns += between(readings, (machine["start_ns"], machine["end_ns"]))
    assert machine["cpu_ns"] == pytest.approx(all_cpu_ns, rel=0.05, abs=len(PARTS) * TICKS_NS)
    span = polled["start_ns"], polled["end_ns"]
    busy = between(on_core.busy, span) / between(on_core.whole, span)
    assert polled["polled_percent"] / 100 == pytest.approx(busy, rel=0.05)
    assert polled["polled_percent"] / 100 > 0.95 * all_cpu_ns / polled["duration_ns"]

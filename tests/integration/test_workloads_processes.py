"""Self-play, whose games worker processes play."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import pytest
from support.process.traced_python import ROOT, TracedPython, untraced_environment
from support.process.workload_traces import instances

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")

_SCRIPT = str(ROOT / "workloads" / "self_play_connect_four.py")
_BRIEF = ["--games", "6", "--evaluation-games", "4", "--simulations", "4", "--updates", "3"]
_PHASES = {"self_play", "update", "evaluation"}


# Six games have more than 32 moves together, and at most 42 each: one iteration.
_OPTIONS = ["--total-timesteps", "32", "--workers", "3", *_BRIEF]


@dataclass(frozen=True)
class Profiled:
    """A run under the profiler, for all tests that ask for one."""

    directory: str
    lines: list[str]
    """What it printed."""


@pytest.fixture(scope="module")
def profiled(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    directory = str(tmp_path_factory.mktemp("self_play") / "run")
    command = ["-o", directory, traced.python, _SCRIPT, *_OPTIONS]
    done = traced.run(*command, timeout=120, env=untraced_environment())
    assert done.returncode == 0, done.stderr
    return Profiled(directory, done.stdout.splitlines())


def test_same_seed_plays_the_same(traced: TracedPython, profiled: Profiled) -> None:
    """With and without the profiler."""
    command = [traced.python, _SCRIPT, *_OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    plain, recorded = done.stdout.splitlines(), profiled.lines
    assert plain[:-1] == recorded[:-1] != []
    assert plain[-1].split("; ")[1] == recorded[-1].split("; ")[1]


def test_self_play_under_the_profiler(profiled: Profiled) -> None:
    from rlscope._trace import Directory

    trace = Directory(profiled.directory)
    place = {process["name"]: index for index, process in enumerate(trace.processes)}
    workers = ["self_play_0", "self_play_1", "self_play_2"]
    assert {"trainer", *workers} <= place.keys()
    trainer = trace.sweep(place["trainer"])
    counts = instances(trainer, "explicit")
    assert {name: counts[name] for name in counts if name not in ("inference", "simulation")} == {
        "gather": 2,
        "sample": 3,
        "forward": 3,
        "backprop": 3,
        "optimizer": 3,
    }
    assert set(trainer["phase_name"]["name"]) == {"(none)", *_PHASES}
    assert list(trainer["iteration"]["source"]) == ["explicit"]
    for worker in workers:
        swept = trace.sweep(place[worker])
        counts = instances(swept, "explicit")
        assert set(counts) == {"selection", "simulation", "inference", "backup"}
        assert counts["selection"] == counts["backup"] > 0
        # Each search has four simulations of all games; a move of all games ends it.
        assert counts["simulation"] == counts["selection"] + counts["selection"] // 4
        assert set(swept["phase_name"]["name"]) == {"(none)", "self_play", "evaluation"}


@contextmanager
def _running(traced: TracedPython) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A run that would take hours, in its second iteration, and its workers."""
    command = [traced.python, "-u", _SCRIPT, "--total-timesteps", "100000000", *_BRIEF]
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert program.stdout is not None
        assert "candidate against best" in program.stdout.readline()
        children = psutil.Process(program.pid).children()
        yield program, [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()


def test_killed_worker_is_one_line(traced: TracedPython) -> None:
    with _running(traced) as (program, workers):
        assert len(workers) == 2
        victim = workers[1]
        victim.kill()
        _, errors = program.communicate(timeout=60)
        (line,) = errors.splitlines()
        assert program.returncode == 1
        assert line.startswith("worker process ")
        assert line.endswith(f"(pid {victim.pid}) ended by SIGKILL")
        _, alive = psutil.wait_procs(workers, timeout=60)
        assert not alive


def test_workers_end_with_the_process_that_trains(traced: TracedPython) -> None:
    with _running(traced) as (program, workers):
        program.kill()
        _, errors = program.communicate(timeout=60)
        _, alive = psutil.wait_procs(workers, timeout=60)
        assert not alive
        assert errors == ""

"""Vectors of environments whose workers take known times: what their steps took, and who was last.

Each environment and the program itself read the clock around the same steps. Medians over the steps
are compared, which a busy machine does not move.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import waits
from rlscope.load import Trace
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

STEPS = 60
SLEEPS = (0.001, 0.002, 0.008)  # seconds of a step of each environment: the last is the straggler
WARM_UP = 5  # steps that are not looked at

PROGRAM = f"""
import json, sys, time
import gymnasium, numpy

STEPS, SLEEPS, WARM_UP = {STEPS}, {SLEEPS}, {WARM_UP}

class Timed(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (4,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, number):
        self.number, self.took = number, []

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(4, numpy.float32), {{}}

    def step(self, action):
        began = time.monotonic_ns()
        if self.number % 2:
            while time.monotonic_ns() - began < SLEEPS[self.number] * 1e9:
                pass
        else:
            time.sleep(SLEEPS[self.number])
        self.took.append(time.monotonic_ns() - began)
        if len(self.took) == STEPS:
            with open(f"env{{self.number}}.json", "w") as file:
                json.dump(self.took, file)
        return numpy.zeros(4, numpy.float32), 0.0, False, False, {{}}

if __name__ == "__main__":
    makers = [lambda number=number: Timed(number) for number in range(len(SLEEPS))]
    kind = sys.argv[1]
    if kind == "gymnasium":
        envs = gymnasium.vector.AsyncVectorEnv(makers, context="fork")
    else:
        from stable_baselines3.common.vec_env import SubprocVecEnv
        envs = SubprocVecEnv(makers, start_method="fork")
    envs.reset()
    took = []
    for _ in range(STEPS):
        began = time.monotonic_ns()
        envs.step(numpy.zeros(len(SLEEPS), int))
        took.append(time.monotonic_ns() - began)
    with open("program.json", "w") as file:
        json.dump(took, file)
    envs.close()
"""


@pytest.fixture(scope="module", params=["gymnasium", "stable_baselines3"])
def trace(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    traced: TracedPython,
) -> Iterator[tuple[Trace, Path]]:
    pytest.importorskip(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = traced.run(
        "-o", "run", traced.python, str(program), request.param, cwd=folder, timeout=120
    )
    assert done.returncode == 0, done.stderr
    with rls.load(folder / "run") as trace:
        yield trace, folder


def _close(recorded: list[int], read: list[int]) -> bool:
    """Whether the median step is within 3 % or 20 us of the program's own clock."""
    differences = [abs(a - b) for a, b in zip(recorded, read, strict=True)][WARM_UP:]
    return statistics.median(differences) <= max(0.03 * statistics.median(read), 20_000)


def _steps(trace: Trace, name: str) -> list[int]:
    """Durations of the steps of one process, without those of resets."""
    rows = trace.sql(
        "SELECT duration_ns FROM operation_instance JOIN process USING (process_id)"
        " JOIN operation USING (operation_id) WHERE process.name = $name AND path = 'simulation'"
        " ORDER BY operation_instance.start_ns",
        {"name": name},
    )
    return [int(row[0]) for row in rows][-STEPS:]


def test_steps_of_workers_and_of_the_vector_take_as_long_as_they_say(
    trace: tuple[Trace, Path],
) -> None:
    found, folder = trace
    assert _close(_steps(found, "program.py"), json.loads((folder / "program.json").read_text()))
    for number in range(len(SLEEPS)):
        own = json.loads((folder / f"env{number}.json").read_text())
        assert _close(_steps(found, f"env worker {number}"), own), number


def test_the_straggler_is_the_slowest_environment(trace: tuple[Trace, Path]) -> None:
    found, _ = trace
    rows = waits.worker_steps(found).to_dicts()
    assert {row["process"] for row in rows} == {"program.py"}
    straggler = rows[0]
    assert straggler["worker"] == f"env worker {len(SLEEPS) - 1}"
    assert straggler["last"] > STEPS / 2
    assert straggler["slow_ns"] > straggler["late_ns"] / 2
    assert straggler["stepped_ns"] <= straggler["any_ns"] <= straggler["operation_ns"]
    assert straggler["any_ns"] >= STEPS * SLEEPS[-1] * 1e9
    workers = sum(row["stepped_ns"] for row in rows)
    assert workers >= STEPS * sum(SLEEPS) * 1e9


def test_the_first_sentence_says_that_simulation_waits_for_the_workers(
    trace: tuple[Trace, Path],
) -> None:
    found, _ = trace
    read = headline.read(found)
    assert read.sentence.startswith("Simulation takes ")
    assert " of the training loop: " in read.sentence
    assert read.sentence.endswith("waiting, mostly for 3 environment workers.")
    texts = [each.text for each in read.details]
    (workers,) = (text for text in texts if text.startswith("In simulation of program.py"))
    assert "at least one of its 3 environment workers steps for " in workers
    assert any(text.startswith("env worker 2 is the straggler: ") for text in texts)
    assert "In no share: 3 environment workers; see Processes." in texts

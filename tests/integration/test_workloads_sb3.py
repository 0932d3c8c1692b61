"""Stable-Baselines3 runs as its users run it; its operations are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process import forked_scripts
from support.process.traced_python import ROOT, TracedPython
from support.process.workload_traces import instances

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("stable_baselines3")

_SCRIPT = str(ROOT / "workloads" / "sb3.py")
_OPERATIONS = {"inference", "simulation", "backprop", "replay"}
# An environment for each algorithm, whose own hyper-parameters learn within 256 steps there.
_ALGORITHMS = {
    "PPO": ("Pendulum-v1", {"advantage"}),  # the value of the rollout's end, of 2,048 steps
    "A2C": ("CartPole-v1", {"advantage"}),
    "DQN": ("Acrobot-v1", {"target"}),
    "SAC": ("Pendulum-v1", {"target", "update"}),  # which moves the target network
    "DDPG": ("Pendulum-v1", {"target", "update"}),
    "TD3": ("Pendulum-v1", {"target", "update"}),
}
_STEPS = ["--total-timesteps", "256"]
_LENGTH = {"PPO": ["--num-envs", "1", *_STEPS]}  # of 8, a rollout has 16,384 steps


Recorded = tuple[str, dict[str, forked_scripts.Ended]]


@pytest.fixture(scope="module")
def recorded(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A trace in which each algorithm is a process, and how they ended."""
    folder = tmp_path_factory.mktemp("sb3")
    programs = {
        name: [_SCRIPT, "--algorithm", name, "--env-id", env_id, *_LENGTH.get(name, _STEPS)]
        for name, (env_id, _) in _ALGORITHMS.items()
    }
    python = traced.command("-o", str(folder / "run"), traced.python)
    modules = [forked_scripts.COMPILER, "stable_baselines3"]
    return str(folder / "run"), forked_scripts.run(python, folder, programs, modules=modules)


@pytest.mark.parametrize("algorithm", _ALGORITHMS)
def test_operations_of_an_algorithm_are_found(recorded: Recorded, algorithm: str) -> None:
    directory, programs = recorded
    _, more = _ALGORITHMS[algorithm]
    ended = programs[algorithm]
    assert ended.code == 0, ended.stderr
    assert ended.stdout.splitlines()[-1].startswith("trained in ")
    from rlscope._trace import Directory

    trace = Directory(directory)
    assert len(trace.processes) == 1 + len(programs)
    place = [process["os_pid"] for process in trace.processes].index(ended.pid)
    swept = trace.sweep(place)
    assert instances(swept, "explicit") == {}
    found = instances(swept, "automatic")
    assert found.keys() - {"import"} == _OPERATIONS | more | {"closing"}
    # The conversion before a forward is a part of its own. At the end of an episode PPO asks for a
    # value, stores, and acts: an inference in two parts, too.
    assert found["simulation"] * 2.01 >= found["inference"] >= 256 / 8
    assert set(swept["iteration"]["source"]) == {"automatic"}


def test_environments_in_processes_of_their_own(traced: TracedPython, directory: str) -> None:
    options = ["--vector", "subproc", "--num-envs", "2", "--total-timesteps", "64"]
    command = [traced.python, _SCRIPT, "--algorithm", "A2C", *options]
    done = traced.run("-o", directory, *command, timeout=120)
    assert done.returncode == 0, done.stderr
    from rlscope._trace import Directory

    with load(directory) as trace:
        names = dict(trace.sql("SELECT name, process_id FROM process"))
    for name in ("sb3.py", "env worker 0", "env worker 1"):
        swept = Directory(directory).sweep(names[name])
        assert instances(swept, "automatic")["simulation"] >= 32, name


def test_wrong_environment_is_one_line(traced: TracedPython, tmp_path: Path) -> None:
    said = {
        ("SAC", "CartPole-v1"): "the algorithm needs actions of kind Box, not Discrete(2)",
        ("DQN", "Pendulum-v1"): "the algorithm needs actions of kind Discrete, not Box(",
        ("PPO", "FrozenLake-v1"): (
            "the algorithm needs observations of kind Box, not Discrete(16)"
        ),
    }
    programs = {
        algorithm: [_SCRIPT, "--algorithm", algorithm, "--env-id", env_id]
        for algorithm, env_id in said
    }
    ended = forked_scripts.run([traced.python], tmp_path, programs, modules=["stable_baselines3"])
    for (algorithm, env_id), why in said.items():
        assert ended[algorithm].code == 1
        (line,) = ended[algorithm].stderr.splitlines()
        assert line.startswith(f"{env_id}: {why}")

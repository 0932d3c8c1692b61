"""The workloads run as a user would run them, briefly."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest
from support.process import forked_scripts
from support.process.traced_python import ROOT, TracedPython
from support.process.workload_traces import (
    Workload,
    check_process,
    check_profile,
    instances,
    steps_of,
)

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")
pytest.importorskip("gymnasium")


_ROLLOUTS = {"data_collection", "training"}
# 2 environments, 2 rollouts of 32 steps, one pass over 4 minibatches.
_BRIEF_PPO = (
    "--total-timesteps 128 --num-envs 2 --num-steps 32 --update-epochs 1 --num-minibatches 4"
)
_OF_BRIEF_PPO = {
    "inference": 64,
    "simulation": 64,
    "advantage": 2,
    "forward": 8,
    "backprop": 8,
    "optimizer": 8,
}
WORKLOADS = {
    "ppo_cartpole": Workload("PPO", _BRIEF_PPO, 2, _OF_BRIEF_PPO, _ROLLOUTS),
    "ppo_continuous": Workload("PPO", _BRIEF_PPO, 2, _OF_BRIEF_PPO, _ROLLOUTS),
    "ppo_vector": Workload("PPO", f"--vector sync {_BRIEF_PPO}", 2, _OF_BRIEF_PPO, _ROLLOUTS),
    "ppo_drone": Workload("PPO", f"--resolution 12 {_BRIEF_PPO}", 2, _OF_BRIEF_PPO, _ROLLOUTS),
    # 2 environments, 9 rollouts of 4 steps: 66 steps are no whole number of rollouts.
    "a2c_cartpole": Workload(
        "A2C",
        "--total-timesteps 66 --num-envs 2 --num-steps 4",
        9,
        {
            "inference": 36,
            "simulation": 36,
            "advantage": 9,
            "forward": 9,
            "backprop": 9,
            "optimizer": 9,
        },
        _ROLLOUTS,
    ),
    # 32 iterations of 2 steps; the update after step 18 is the first of 24.
    "dqn_cartpole": Workload(
        "DQN",
        "--total-timesteps 64 --train-every 2 --learning-starts 16 --target-every 5 --batch-size 8",
        32,
        {
            "inference": 64,
            "simulation": 64,
            "sample": 24,
            "target": 24,
            "forward": 24,
            "backprop": 24,
            "optimizer": 24,
            "target_update": 4,
        },
    ),
    # 64 iterations of one step; the update after step 17 is the first of 48.
    "sac_pendulum": Workload(
        "SAC",
        "--total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16",
        64,
        {
            "inference": 64,
            "simulation": 64,
            "sample": 48,
            "target": 48,
            **steps_of("critic", 48),
            **steps_of("actor", 48),
            **steps_of("temperature", 48),
            "target_update": 48,
        },
    ),
    # 4 iterations of 2 prompts with 4 answers of 2 digits each; 2 updates with each.
    "grpo_tiny": Workload(
        "GRPO",
        "--total-timesteps 64 --digits 2 --prompts 2 --group-size 4 --width 16",
        4,
        {
            "rollout": 4,
            "rollout/prefill": 4,
            "rollout/decode": 8,
            "reward": 4,
            "reference": 4,
            **dict.fromkeys(("update", "update/forward", "update/backprop", "update/optimizer"), 8),
        },
        resets=0,
    ),
    "ddpg_pendulum": Workload(
        "DDPG",
        "--total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16",
        64,
        {
            "inference": 64,
            "simulation": 64,
            "sample": 48,
            "target": 48,
            **steps_of("critic", 48),
            **steps_of("actor", 48),
            "target_update": 48,
        },
    ),
    # The policy is updated every third time.
    "td3_pendulum": Workload(
        "TD3",
        "--total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16 --policy-frequency 3",
        64,
        {
            "inference": 64,
            "simulation": 64,
            "sample": 48,
            "target": 48,
            **steps_of("critic", 48),
            **steps_of("actor", 16),
            "target_update": 16,
        },
    ),
}


# Run by test_workloads_simulators.py, _frameworks.py, _processes.py and _sb3.py.
_ELSEWHERE = {
    "self_play_connect_four",
    "sb3",
    "dqn_pong",
    "ppo_pong",
    "ddpg_pendulum_tensorflow",
    "td3_pendulum_tensorflow",
    "ddpg_pendulum_jax",
    "td3_pendulum_jax",
    "ppo_cartpole_jax",
    "ppo_cartpole_jax_scan",
}


def test_every_workload_is_run() -> None:
    files = Path(ROOT, "workloads").glob("*.py")
    runnable = {path.stem for path in files if "def main(" in path.read_text(encoding="utf-8")}
    assert runnable == {*WORKLOADS, *_ELSEWHERE}


def _run(python: str, *how: str) -> subprocess.CompletedProcess[str]:
    command = [python, *how]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_a_workload_is_a_module_too(traced: TracedPython) -> None:
    options = WORKLOADS["a2c_cartpole"].options.split()
    done = _run(traced.python, "-m", "rlscope.workloads.a2c_cartpole", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("trained in ")


@pytest.fixture(scope="module")
def recorded(
    traced: TracedPython, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, forked_scripts.Ended]]:
    """A trace in which each workload is a process, and how they ended."""
    folder = tmp_path_factory.mktemp("workloads")
    programs = {
        name: [str(ROOT / "workloads" / f"{name}.py"), *workload.options.split()]
        for name, workload in WORKLOADS.items()
    }
    python = traced.command("-o", str(folder / "run"), traced.python)
    modules = ["torch", forked_scripts.COMPILER, "gymnasium"]
    return str(folder / "run"), forked_scripts.run(python, folder, programs, modules=modules)


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_under_the_profiler(
    recorded: tuple[str, dict[str, forked_scripts.Ended]], name: str
) -> None:
    from rlscope._trace import Directory

    directory, programs = recorded
    ended = programs[name]
    assert ended.code == 0, ended.stderr
    trace = Directory(directory)
    assert len(trace.processes) == 1 + len(programs)
    pids = [process["os_pid"] for process in trace.processes]
    check_process(trace, pids.index(ended.pid), WORKLOADS[name])


def test_environments_in_processes_of_their_own(traced: TracedPython, directory: str) -> None:
    script = str(ROOT / "workloads" / "ppo_vector.py")
    command = [traced.python, script, "--vector", "async", *_BRIEF_PPO.split()]
    result = traced.run("-o", directory, *command, timeout=120)
    assert result.returncode == 0, result.stderr
    with load(directory) as trace:
        names = dict(trace.sql("SELECT name, process_id FROM process"))
    assert names.keys() == {"trainer", "env worker 0", "env worker 1"}
    from rlscope._trace import Directory

    trainer = Directory(directory).sweep(names["trainer"])
    assert instances(trainer, "explicit") == _OF_BRIEF_PPO
    for name in ("env worker 0", "env worker 1"):
        steps = instances(Directory(directory).sweep(names[name]), "automatic")["simulation"]
        assert steps >= 64, name


class Refused(Protocol):
    def __call__(self, name: str, *options: str, code: int = 1) -> str: ...


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Starts a workload in this process, which takes no time to import PyTorch; what it says in one
    line before it ends with this code."""

    def start(name: str, *options: str, code: int = 1) -> str:
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
        monkeypatch.delitem(sys.modules, f"rlscope.workloads.{name}", raising=False)
        with pytest.raises(SystemExit) as ended:
            importlib.import_module(f"rlscope.workloads.{name}").main()
        said = capsys.readouterr().err
        if isinstance(ended.value.code, str):  # the interpreter prints it, and ends with 1
            said, ended.value.code = said + ended.value.code, 1
        assert ended.value.code == code
        (line,) = said.splitlines()
        return line

    return start


@pytest.mark.parametrize(
    ("resolution", "said"),
    [("13", "resolution must be a multiple of 12, not 13"), ("6", "a multiple of 12, not 6")],
)
def test_drone_needs_whole_pixels(refused: Refused, resolution: str, said: str) -> None:
    line = refused("ppo_drone", "--resolution", resolution)
    assert line.startswith("DroneDepth-v0: ") and said in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("a2c_cartpole --num-envs 0", "--num-envs: '0' is not a whole number, at least 1"),
        ("ppo_cartpole --seed 1.5", "--seed: '1.5' is not a whole number, at least 0"),
        ("sac_pendulum --gamma nan", "--gamma: 'nan' is not a number, at least 0"),
        ("dqn_cartpole --device warp", "--device: 'warp' cannot be used: "),
        ("dqn_cartpole --device meta", "--device: 'meta' cannot be used: "),
        ("ppo_vector --vector ray", "--vector: invalid choice: 'ray' (choose from "),
        ("sb3 --algorithm TRPO", "--algorithm: invalid choice: 'TRPO' (choose from "),
        ("dqn_cartpole --total 5", "unrecognized arguments: --total 5"),
    ],
)
def test_wrong_argument_is_one_line(refused: Refused, options: str, said: str) -> None:
    assert said in refused(*options.split(), code=2)


@pytest.mark.parametrize(
    ("name", "env_id", "said"),
    [
        ("ppo_cartpole", "Pendulum-v1", "needs actions of kind Discrete, not Box("),
        ("a2c_cartpole", "FrozenLake-v1", "needs observations of kind Box, not Discrete("),
        ("dqn_cartpole", "NoSuchTask-v0", "Environment `NoSuchTask` doesn't exist"),
        ("sac_pendulum", "CartPole-v1", "needs actions of kind Box, not Discrete("),
        ("ddpg_pendulum", "CartPole-v1", "needs actions of kind Box, not Discrete("),
        ("ppo_pong", "CartPole-v1", "not a game of the Arcade Learning Environment"),
        ("dqn_pong", "CartPole-v1", "not a game of the Arcade Learning Environment"),
        ("ppo_continuous", "CartPole-v1", "needs actions of kind Box, not Discrete("),
    ],
)
def test_wrong_environment_is_one_line(refused: Refused, name: str, env_id: str, said: str) -> None:
    line = refused(name, "--env-id", env_id)
    assert line.startswith(f"{env_id}: ") and said in line


@pytest.mark.parametrize(
    ("name", "env_id", "package", "said"),
    [
        ("sac_pendulum", "Hopper-v5", "mujoco", 'pip install "gymnasium[mujoco]"'),
        (
            "ppo_continuous",
            "Walker2DBulletEnv-v0",
            "pybullet_envs_gymnasium",
            "pip install pybullet",
        ),
        ("sb3", "CartPole-v1", "stable_baselines3", "pip install stable-baselines3"),
        ("dqn_pong", "ALE/Pong-v5", "ale_py", "pip install ale-py opencv-python-headless"),
        ("ppo_pong", "ALE/Pong-v5", "ale_py", "pip install ale-py opencv-python-headless"),
        ("dqn_pong", "ALE/Pong-v5", "cv2", "pip install ale-py opencv-python-headless"),
    ],
)
def test_missing_simulator_is_one_line(
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    env_id: str,
    package: str,
    said: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = refused(name, "--env-id", env_id)
    assert line.startswith(f"{env_id}: ") and said in line


def test_compilation_without_a_compiler_is_one_line(
    traced: TracedPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    done = _run(traced.python, "workloads/ppo_cartpole.py", "--compile")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("--compile needs a C++ compiler: ")
    assert "there is no no-such-compiler" in line


@pytest.mark.slow  # 20 to 60 s each, on two cores
@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "grpo_tiny"])
def test_compiled_workload_has_the_same_operations(
    traced: TracedPython, directory: str, name: str
) -> None:
    pytest.importorskip("torch._inductor")
    workload = WORKLOADS[name]
    compiled = dataclasses.replace(workload, options=f"{workload.options} --compile")
    check_profile(traced, directory, name, compiled, may_compile=True)


def test_top_level_import_is_refused() -> None:
    done = _run(sys.executable, "-c", "import workloads")
    assert done.returncode == 1
    assert "import this package as rlscope.workloads" in done.stderr

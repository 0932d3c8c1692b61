"""The workloads whose simulators are native code: make test-simulators installs those."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

import numpy as np
import pytest
from support.process.installed import need
from support.process.traced_python import ROOT, TracedPython
from support.process.workload_traces import instances

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")
pytest.importorskip("gymnasium")


@dataclass(frozen=True)
class Workload:
    """A brief run, and what its trace must hold."""

    name: str
    env_id: str
    modules: tuple[str, ...]
    """What must be installed."""
    options: str
    steps: int
    """Those of the environment, or of all environments of a vector together."""
    counts: dict[str, int]
    """How often some other operations happen."""


_DQN = "--total-timesteps 64 --learning-starts 16 --batch-size 4"
_SAC = "--total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16"
_PPO = "--total-timesteps 64 --num-envs 2 --num-steps 16 --update-epochs 1 --num-minibatches 2"
_A2C = "--total-timesteps 64 --num-envs 2 --num-steps 16"


def _dqn(name: str, env_id: str, modules: tuple[str, ...], updates: int) -> Workload:
    return Workload(name, env_id, modules, _DQN, 64, {"sample": updates, "target": updates})


def _ppo(name: str, env_id: str, *modules: str, options: str = "") -> Workload:
    counts = {"advantage": 2, "forward": 4, "optimizer": 4}
    return Workload(name, env_id, modules, f"{options} {_PPO}", 32, counts)


WORKLOADS = [
    Workload("sac_pendulum", "Hopper-v5", ("mujoco",), _SAC, 64, {"sample": 48, "target": 48}),
    # 16 iterations of 4 steps; the update after step 20 is the first of 12.
    _dqn("dqn_pong", "ALE/Pong-v5", ("ale_py", "cv2"), 12),
    # 2 iterations of 4 steps of 8 games.
    Workload(
        "ppo_pong",
        "ALE/Pong-v5",
        ("ale_py", "cv2"),
        "--total-timesteps 64 --num-steps 4 --num-minibatches 2",
        8,
        {"advantage": 2, "forward": 12, "backprop": 12, "optimizer": 12},
    ),
    _dqn("dqn_cartpole", "LunarLander-v3", ("Box2D",), 48),
    Workload("a2c_cartpole", "LunarLander-v3", ("Box2D",), _A2C, 32, {"advantage": 2}),
    _ppo("ppo_cartpole", "LunarLander-v3", "Box2D"),
    _ppo("ppo_vector", "CartPole-v1", "envpool", options="--vector envpool"),
    _ppo("ppo_continuous", "Hopper-v5", "mujoco"),
    _ppo("ppo_continuous", "Walker2d-v5", "mujoco"),
    _ppo("ppo_continuous", "HalfCheetah-v5", "mujoco"),
    _ppo("ppo_continuous", "Ant-v5", "mujoco"),
    _ppo("ppo_continuous", "Walker2DBulletEnv-v0", "pybullet", "pybullet_envs_gymnasium"),
]
_each = pytest.mark.parametrize(
    "workload", WORKLOADS, ids=lambda each: f"{each.name}-{each.env_id.replace('/', '-')}"
)
_FIRST = list({each.name: each for each in reversed(WORKLOADS)}.values())


@pytest.mark.parametrize("workload", _FIRST, ids=lambda each: each.name)
def test_workload_by_path_and_by_name(traced: TracedPython, workload: Workload) -> None:
    need(*workload.modules)
    script = f"workloads/{workload.name}.py"
    for how in ([script], ["-m", f"rlscope.workloads.{workload.name}"]):
        command = [traced.python, *how, "--env-id", workload.env_id, *workload.options.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("trained in ")


@_each
def test_steps_of_a_workload_are_in_its_simulator(
    traced: TracedPython, directory: str, workload: Workload
) -> None:
    need(*workload.modules)
    script = str(ROOT / "workloads" / f"{workload.name}.py")
    command = [traced.python, script, "--env-id", workload.env_id, *workload.options.split()]
    done = traced.run("-o", directory, *command, timeout=120)
    assert done.returncode == 0, done.stderr
    from rlscope._trace import Directory

    counts = instances(Directory(directory).sweep(0), "explicit")
    assert counts["inference"] == counts["simulation"] == workload.steps
    assert {name: counts[name] for name in workload.counts} == workload.counts
    with load(directory) as trace:
        calls = dict(
            trace.sql(
                "SELECT operation, SUM(calls)::BIGINT FROM native_call "
                "WHERE layer = 'simulator' AND source = 'explicit' GROUP BY operation"
            )
        )
    assert set(calls) == {"simulation"}
    assert calls["simulation"] >= workload.steps


def test_environment_that_is_not_of_envpool_is_one_line(traced: TracedPython) -> None:
    need("envpool")
    command = [traced.python, "workloads/ppo_vector.py", "--vector", "envpool", "--env-id", "Taxi"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Taxi: not an environment of EnvPool"


def test_envpool_begins_anew_in_the_step_that_ends_an_episode() -> None:
    need("envpool")
    from rlscope.workloads.ppo_vector import EnvPool

    envs = EnvPool("CartPole-v1", num_envs=3, seed=1)
    observation, _ = envs.reset(seed=1)
    alone = [0] * 3
    for _ in range(200):
        observation, reward, terminated, truncated, info = envs.step(np.zeros(3, np.int64))
        assert (reward == 1.0).all()  # 0 in a step that only begins anew
        for index in range(3):
            alone[index] += 1
            if terminated[index] or truncated[index]:
                # Pushed to one side, the pole has fallen, and stands again.
                assert alone[index] in range(8, 12)
                assert abs(info["final_obs"][index][2]) > 0.2
                assert (np.abs(observation[index]) <= 0.05).all()
                alone[index] = 0
    envs.close()

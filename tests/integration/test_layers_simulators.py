"""Each simulator's native code is layer simulator, its Python code layer python; by either engine.

Each program steps an environment inside operation "steps"; a simulator that is not installed is
skipped: make test-simulators installs them.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.process.installed import need
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

ENGINES = ["patch", "monitoring"] if sys.version_info >= (3, 12) else ["patch"]
STEPS = 30

_GYM = """
{imports}
import rlscope as rls
env = gym.make("{name}")
env.reset(seed=1)
env.action_space.seed(1)
with rls.operation("steps"):
    for _ in range({steps}):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
print("stepped", repr(observation.tobytes()[:32]), float(reward))
"""
_PYBULLET = """
import pybullet, rlscope as rls
pybullet.connect(pybullet.DIRECT)
box = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3)
body = pybullet.createMultiBody(1, box)
pybullet.setGravity(0, 0, -10)
with rls.operation("steps"):
    for _ in range({steps}):
        pybullet.stepSimulation()
        place = pybullet.getBasePositionAndOrientation(body)
print("stepped", place)
"""
_ENVPOOL = """
import envpool, numpy as np, rlscope as rls
env = envpool.make_gymnasium("CartPole-v1", num_envs=4, seed=1)
env.reset()
with rls.operation("steps"):
    for _ in range({steps}):
        observation = env.step(np.zeros(4, dtype=int))[0]
print("stepped", observation.shape)
"""
_PETTINGZOO = """
from pettingzoo.classic import rps_v2
import rlscope as rls
env = rps_v2.parallel_env(max_cycles=10_000)
env.reset(seed=1)
with rls.operation("steps"):
    for _ in range({steps}):
        rewards = env.step({{agent: 0 for agent in env.agents}})[1]
print("stepped", rewards)
"""


@dataclass(frozen=True)
class Simulator:
    """A program that steps, and what its trace must show."""

    modules: tuple[str, ...]
    """What must be installed."""
    program: str
    least_calls: int
    """Native calls of layer simulator in each step, at least: 0, there are none at all."""
    listened: int
    """The same by sys.monitoring, which sees no operators and attributes."""
    target: str = "test-simulators"
    """Which target of the Makefile installs the modules."""


def _gym(name: str, imports: str = "import gymnasium as gym") -> str:
    return _GYM.format(name=name, imports=imports, steps=STEPS)


SIMULATORS = {
    "mujoco": Simulator(("gymnasium", "mujoco"), _gym("HalfCheetah-v5"), 5, 1),
    "box2d": Simulator(("gymnasium", "Box2D"), _gym("LunarLander-v3"), 5, 1),
    "ale": Simulator(
        ("gymnasium", "ale_py"),
        _gym("ALE/Pong-v5", "import ale_py, gymnasium as gym; gym.register_envs(ale_py)"),
        4,
        4,
    ),
    "gym": Simulator(("gym", "Box2D"), _gym("LunarLander-v2", "import gym"), 5, 1, "test-gym"),
    "pybullet": Simulator(("pybullet",), _PYBULLET.format(steps=STEPS), 2, 2),
    "envpool": Simulator(("envpool",), _ENVPOOL.format(steps=STEPS), 2, 1),
    "gymnasium": Simulator(("gymnasium",), _gym("CartPole-v1"), 0, 0),
    "pettingzoo": Simulator(("pettingzoo", "pygame"), _PETTINGZOO.format(steps=STEPS), 0, 0),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SIMULATORS)
def test_native_code_of_a_simulator_is_its_layer(
    traced: TracedPython, directory: str, tmp_path: Path, name: str, engine: str
) -> None:
    simulator = SIMULATORS[name]
    need(*simulator.modules, target=simulator.target)
    options = ["-o", directory, "--intercept", engine]
    command = [*options, traced.python, "-c", simulator.program]
    done = traced.run(*command, timeout=300, cwd=tmp_path)  # MuJoCo leaves a log file there
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("stepped")
    least = simulator.least_calls if engine == "patch" else simulator.listened
    _check_layers(directory, least * STEPS)


def _check_layers(directory: str, least: int) -> None:
    with load(directory) as trace:
        ((calls, native_ns),) = trace.sql(
            "SELECT COALESCE(SUM(calls), 0)::BIGINT, COALESCE(SUM(duration_ns), 0)::BIGINT "
            "FROM native_call WHERE operation = 'steps' AND layer = 'simulator'"
        )
        layers = dict(
            trace.sql(
                "SELECT layer, SUM(duration_ns)::BIGINT FROM breakdown "
                "WHERE operation = 'steps' GROUP BY layer"
            )
        )
        ((wall_ns,),) = trace.sql(
            "SELECT SUM(duration_ns)::BIGINT FROM operation_instance "
            "JOIN operation USING (operation_id) WHERE path = 'steps'"
        )
    assert sum(layers.values()) == wall_ns
    assert layers["python"] > 0
    assert calls >= least
    assert (calls > 0) == (least > 0)
    simulator_ns = layers.get("simulator", 0)
    assert simulator_ns <= native_ns
    assert (simulator_ns > 0) == (least > 0)


@pytest.mark.parametrize("name", ["box2d", "mujoco", "ale"])
def test_an_environment_plays_the_same_game(
    traced: TracedPython, directory: str, tmp_path: Path, name: str
) -> None:
    simulator = SIMULATORS[name]
    need(*simulator.modules, target=simulator.target)
    command = [traced.python, "-c", simulator.program]
    plain = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    recorded = traced.run("-o", directory, *command, timeout=300, cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == plain.stdout

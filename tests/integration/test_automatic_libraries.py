"""Automatic operations of the libraries that reinforcement learning programs are written with: what
their own loops call is found, as often as they call it."""

from __future__ import annotations

import importlib.util
from collections import Counter

import pytest
from recorded_child import record

from rlscope.load import load

_BEGIN = """
import warnings
warnings.simplefilter("ignore")  # of the libraries about each other
import rlscope.auto
rlscope.auto.begin()
"""
_GYM = """
import contextlib, io
with contextlib.redirect_stderr(io.StringIO()):  # a banner that recommends gymnasium
    import gym
warnings.simplefilter("ignore")  # it has just said otherwise
env = gym.make("CartPole-v1")
env.reset(seed=1)
for _ in range(5):
    env.step(env.action_space.sample())
envs = gym.vector.make("CartPole-v1", 2, asynchronous=False)
envs.reset(seed=1)
envs.step(envs.action_space.sample())
"""
_PETTINGZOO = """
from pettingzoo.classic import rps_v2
env = rps_v2.env(max_cycles=3)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else env.action_space(agent).sample())
parallel = rps_v2.parallel_env(max_cycles=3)
parallel.reset(seed=1)
while parallel.agents:
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})
"""
_ENVPOOL = """
import envpool, numpy
envs = envpool.make_gymnasium("CartPole-v1", num_envs=2)
envs.reset()
for _ in range(5):
    envs.step(numpy.zeros(2, dtype=numpy.int32))
"""
_STABLE_BASELINES3 = """
import torch
from stable_baselines3 import DQN, PPO
torch.set_num_threads(1)
model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, n_epochs=2, seed=1)
model.learn(32)
"""
_TORCHRL = """
import torch
from torch import nn
from tensordict.nn import TensorDictModule
from torchrl.envs import GymEnv
try:
    from torchrl.collectors import Collector
except ImportError:  # before 0.13
    from torchrl.collectors import SyncDataCollector as Collector
torch.set_num_threads(1)
env = GymEnv("CartPole-v1", categorical_action_encoding=True)
net = nn.Sequential(nn.Linear(4, 2))
choose = TensorDictModule(
    lambda x: net(x).argmax(-1), in_keys=["observation"], out_keys=["action"]
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
collector = Collector(env, choose, frames_per_batch=8, total_frames=16)
for batch in collector:
    net(batch["observation"]).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
collector.shutdown()
"""
_LIBRARIES = {
    "gym": (_GYM, {"simulation": 8}),
    "pettingzoo": (_PETTINGZOO, {"simulation": 13}),
    "envpool": (_ENVPOOL, {"simulation": 6}),
    # Of each of two rollouts: 16 actions, the bootstrap value and two minibatches of training.
    "stable_baselines3": (_STABLE_BASELINES3, {"simulation": 33, "inference": 32, "backprop": 6}),
    "torchrl": (_TORCHRL, {"simulation": 17, "inference": 16, "backprop": 2}),
}


@pytest.mark.parametrize("library", _LIBRARIES)
def test_what_a_library_calls_is_found(directory: str, library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    script, expected = _LIBRARIES[library]
    record(directory, _BEGIN + script, timeout=300)
    assert _instances(directory) == expected


def _instances(directory: str) -> dict[str, int]:
    """Entries into automatic operations, by name."""
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT path FROM operation JOIN operation_instance USING (operation_id)"
            " WHERE source = 'automatic'"
        )
        return dict(Counter(rows["path"]))

"""Automatic operations of the libraries that reinforcement learning programs are written with: what
their own loops call is found, as often as they call it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.process.forked_programs import record_forks
from support.process.installed import need
from support.process.recorded_child import record
from support.process.traced_python import TracedPython

from rlscope.opening import load

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
# Two workers of TorchRL act, each in a process of its own.
_TORCHRL_WORKERS = """
import torch
from torch import nn
from tensordict.nn import TensorDictModule
from torchrl.envs import GymEnv
try:
    from torchrl.collectors import MultiSyncCollector as Collector
except ImportError:  # before 0.13
    from torchrl.collectors import MultiSyncDataCollector as Collector
class Choose(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
    def forward(self, observation):
        return self.net(observation).argmax(-1)
def make():
    return GymEnv("CartPole-v1", categorical_action_encoding=True)
if __name__ == "__main__":
    net = nn.Linear(4, 2)
    choose = TensorDictModule(Choose(), in_keys=["observation"], out_keys=["action"])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    collector = Collector([make, make], choose, frames_per_batch=16, total_frames=32)
    for batch in collector:
        net(batch["observation"]).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    collector.shutdown()
"""
# The environment lives in a process of its own, which Ray's daemon starts.
_RLLIB = """
import ray
from ray.rllib.algorithms.ppo import PPOConfig
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
config = PPOConfig().environment("CartPole-v1").env_runners(num_env_runners=1)
config.training(train_batch_size_per_learner=100, minibatch_size=50, num_epochs=2)
algorithm = config.build_algo()
for _ in range(2):
    algorithm.train()
algorithm.stop()
ray.shutdown()
"""
_LIBRARIES = {
    "gym": (_GYM, {"simulation": 8, "inference": 6}),
    "pettingzoo": (_PETTINGZOO, {"simulation": 13, "inference": 9}),
    "envpool": (_ENVPOOL, {"simulation": 6}),
    # Each of two rollouts has 16 actions, which are stored, the bootstrap value, and two
    # minibatches of training, which are taken out. What is drawn before the buffer's own call, and
    # made after it, is one operation with that.
    "stable_baselines3": (
        _STABLE_BASELINES3,
        {"simulation": 33, "inference": 32, "advantage": 2, "backprop": 4, "replay": 36},
    ),
    "torchrl": (_TORCHRL, {"simulation": 17, "inference": 16, "backprop": 2}),
}


_SLOW_CONVERSION = """
import time
import gymnasium
from stable_baselines3 import DQN
from stable_baselines3.dqn import MlpPolicy
class Slow(MlpPolicy):
    def obs_to_tensor(self, observation):
        time.sleep(0.05)
        return super().obs_to_tensor(observation)
env = gymnasium.make("CartPole-v1")
model = DQN(Slow, env)
observation, _ = env.reset(seed=1)
for _ in range(4):
    action, _ = model.predict(observation, deterministic=True)
    observation, *_ = env.step(action)
"""

# What needs PyTorch: forks of one program, which imports it for all.
_FORKED = {
    "stable_baselines3": _STABLE_BASELINES3,
    "torchrl": _TORCHRL,
    "a slow conversion": _SLOW_CONVERSION,
}


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, int]]:
    """The trace of _FORKED, and the process of each."""
    directory = str(tmp_path_factory.mktemp("forked") / "run")
    _, pids = record_forks(directory, _BEGIN + "import torch._dynamo\n", _FORKED)
    return directory, pids


@pytest.mark.parametrize("library", _LIBRARIES)
def test_what_a_library_calls_is_found(
    request: pytest.FixtureRequest, tmp_path: Path, library: str
) -> None:
    need(library)
    script, expected = _LIBRARIES[library]
    if library in _FORKED:
        need(*_FORKED.keys() & _LIBRARIES.keys())
        directory, pids = request.getfixturevalue("forked")
        pid = pids[library]
    else:
        directory, pid = str(tmp_path / "run"), None
        record(directory, _BEGIN + script, timeout=300)
    assert _instances(directory, pid) == expected


def test_what_stable_baselines3_makes_of_an_observation_is_inference(
    request: pytest.FixtureRequest,
) -> None:
    need(*_FORKED.keys() & _LIBRARIES.keys())
    directory, pids = request.getfixturevalue("forked")
    with load(directory) as trace:
        ((inference_ns,),) = trace.sql(
            "SELECT SUM(duration_ns) FROM breakdown JOIN process USING (process_id)"
            " WHERE operation = 'inference' AND os_pid = $pid",
            {"pid": pids["a slow conversion"]},
        )
    assert inference_ns > 4 * 50e6


def _by_process(traced: TracedPython, folder: Path, program: str) -> dict[str, dict[str, int]]:
    """How often each process entered which operation, by the name of the process."""
    directory = str(folder / "trace")
    traced.record(directory, folder / "train.py", program, timeout=300)
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT process.name AS process, path, count(*) AS times FROM operation"
            " JOIN operation_instance USING (operation_id) JOIN process USING (process_id)"
            " WHERE path NOT IN ('import', 'closing') GROUP BY ALL"
        ).to_dicts()
        assert not trace.sql("SELECT * FROM loss").to_dicts()
    by_process: dict[str, dict[str, int]] = {}
    for row in rows:
        by_process.setdefault(row["process"], {})[row["path"]] = row["times"]
    return by_process


def test_torchrl_acts_in_its_workers_and_learns_in_the_program(
    traced: TracedPython, tmp_path: Path
) -> None:
    need("torchrl")
    acts = {"simulation": 17, "inference": 16}
    found = _by_process(traced, tmp_path, _TORCHRL_WORKERS)
    assert found == {"train.py": {"backprop": 2}, "collector 0": acts, "collector 1": acts}


def test_rllib_acts_in_one_process_and_learns_in_another(
    traced: TracedPython, tmp_path: Path
) -> None:
    need("ray")
    by_process = _by_process(traced, tmp_path, _RLLIB)
    assert len(by_process) == 2
    learner = by_process.pop("train.py")
    (worker,) = by_process.values()
    # Each of two updates has one batch of episodes, then at least two epochs of two minibatches.
    assert learner.keys() == {"update", "backprop"}
    assert learner["update"] == 2
    assert learner["backprop"] >= 2 * 2 * 100 / 50
    assert worker.keys() == {"simulation", "inference"}
    # Its connectors before the forward, and the forward.
    assert 200 <= worker["inference"] / 2 <= worker["simulation"] <= 200 * 1.2


def _instances(directory: str, pid: int | None) -> dict[str, int]:
    """Entries into automatic operations of a process, or of all, by name."""
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT path FROM operation JOIN operation_instance USING (operation_id)"
            " JOIN process USING (process_id) WHERE source = 'automatic'"
            " AND path NOT IN ('import', 'closing') AND ($pid IS NULL OR os_pid = $pid)",
            {"pid": pid},
        )
        return dict(Counter(rows["path"]))

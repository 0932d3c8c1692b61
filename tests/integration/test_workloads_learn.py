"""Each workload learns: three seeds of it earn more than three of random actions.

More is three standard errors of the difference. To learn Pong takes hours: its agent learns a task
of a minute instead, from pixels as well.
"""

from __future__ import annotations

import math
import statistics
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.process.installed import need
from support.process.traced_python import ROOT, TracedPython

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("clean_environment")]

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

SEEDS = (1, 2, 3)
_RANDOM_EPISODES = 20
WORKLOADS = {
    "a2c_cartpole": "CartPole-v1",
    "ddpg_pendulum": "Pendulum-v1",
    "ddpg_pendulum_jax": "Pendulum-v1",
    "ddpg_pendulum_tensorflow": "Pendulum-v1",
    "dqn_cartpole": "CartPole-v1",
    "ppo_cartpole": "CartPole-v1",
    "ppo_cartpole_jax": "CartPole-v1",
    "ppo_cartpole_jax_scan": "CartPole-v1",
    "ppo_continuous": "Pendulum-v1",
    "ppo_drone --resolution 12": "DroneDepth-v0",
    "ppo_vector --vector async": "CartPole-v1",
    "ppo_vector --vector envpool": "CartPole-v1",
    "sac_pendulum": "Pendulum-v1",
    "sb3 --algorithm PPO": "CartPole-v1",
    "sb3 --algorithm A2C": "CartPole-v1",
    "sb3 --algorithm DQN": "CartPole-v1",
    "sb3 --algorithm SAC": "Pendulum-v1",
    "sb3 --algorithm DDPG": "Pendulum-v1",
    "sb3 --algorithm TD3": "Pendulum-v1",
    "td3_pendulum": "Pendulum-v1",
    "td3_pendulum_jax": "Pendulum-v1",
    "td3_pendulum_tensorflow": "Pendulum-v1",
}
"""Name and options of a workload -> its environment."""


@pytest.mark.parametrize("workload", WORKLOADS)
def test_workload_beats_random_actions(traced: TracedPython, workload: str) -> None:
    need(*(library for library in ("envpool", "jax", "tensorflow") if library in workload))
    learned = [_learned(traced.python, workload, seed) for seed in SEEDS]
    by_chance = [_by_chance(WORKLOADS[workload], seed) for seed in SEEDS]
    _check_better(workload, learned, by_chance)


def test_self_play_beats_the_network_that_has_not_learned(traced: TracedPython) -> None:
    from rlscope.workloads.self_play_connect_four import Args, Trainer

    learned = [_learned(traced.python, "self_play_connect_four", seed) for seed in SEEDS]
    before = [Trainer(Args(seed=seed, annotate=False)).score_against_chance() for seed in SEEDS]
    _check_better("self_play_connect_four", learned, before)


def test_language_model_gets_more_reward_than_at_first(traced: TracedPython) -> None:
    from rlscope.workloads.grpo_tiny import Args, Trainer

    learned = [_learned(traced.python, "grpo_tiny", seed) for seed in SEEDS]
    before = []
    for seed in SEEDS:
        trainer = Trainer(Args(seed=seed, annotate=False))
        trainer.run_iteration()
        before += trainer.rewards
    _check_better("grpo_tiny", learned, before)


def _check_better(workload: str, learned: list[float], before: list[float]) -> None:
    """By three standard errors of the difference of the means."""
    more = statistics.mean(learned) - statistics.mean(before)
    squares = statistics.variance(learned) + statistics.variance(before)
    error = math.sqrt(squares / len(SEEDS))
    print(f"{workload}: {more:.3f} more, standard error {error:.3f}: {learned} after {before}")
    assert more > 3 * error, (learned, before)


def _learned(python: str, workload: str, seed: int) -> float:
    """What a whole run prints in the end: mostly the mean return of the last 20 episodes."""
    name, *options = workload.split()
    command = [python, f"workloads/{name}.py", "--seed", str(seed), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    trained = done.stdout.splitlines()[-1]
    print(f"{name}, seed {seed}: {trained}")
    return float(trained.split()[-1])


def _by_chance(env_id: str, seed: int) -> float:
    """Mean return of 20 episodes of random actions."""
    from rlscope.workloads import heavy_environment  # noqa: F401  registers its environment

    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(env_id))
    env.action_space.seed(seed)
    env.reset(seed=seed)
    while len(env.return_queue) < _RANDOM_EPISODES:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    return statistics.mean(map(float, env.return_queue))


class LitSide(gymnasium.Env):  # type: ignore[misc, name-defined]
    """Ten times in an episode: which half of the picture is lit?"""

    observation_space = gymnasium.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.asked = 0
        return self._picture(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
        right = action == self.side
        self.asked += 1
        return self._picture(), float(right), self.asked == 10, False, {}

    def _picture(self) -> Any:
        self.side = int(self.np_random.integers(2))
        picture = np.zeros((4, 84, 84), np.uint8)
        picture[:, :, 42 * self.side : 42 * (self.side + 1)] = 255
        return picture


@pytest.fixture
def one_thread() -> Iterator[None]:
    """More are many times slower on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
def test_the_dqn_agent_of_pong_learns_from_pixels() -> None:
    from rlscope.workloads import dqn_pong

    class Trainer(dqn_pong.Trainer):
        def make_environment(self) -> Any:
            return gymnasium.wrappers.RecordEpisodeStatistics(LitSide())

    trainer = Trainer(dqn_pong.Args(total_timesteps=2000, target_every=50, print_every=0))
    trainer.train()
    _check_it_learned(trainer.returns)


@pytest.mark.usefixtures("one_thread")
def test_the_ppo_agent_of_pong_learns_from_pixels() -> None:
    from rlscope.workloads import ppo_pong

    class Trainer(ppo_pong.Trainer):
        def make_environments(self) -> Any:
            game = lambda: gymnasium.wrappers.RecordEpisodeStatistics(LitSide())  # noqa: E731
            same_step = gymnasium.vector.AutoresetMode.SAME_STEP
            return gymnasium.vector.SyncVectorEnv([game] * 8, autoreset_mode=same_step)

    trainer = Trainer(ppo_pong.Args(total_timesteps=8192, num_steps=32, print_every=0))
    trainer.train()
    _check_it_learned(trainer.returns)


def _check_it_learned(returns: list[float]) -> None:
    print(f"from pixels: {returns[:10]} became {returns[-20:]}")
    assert statistics.mean(returns[:10]) < 7, "random actions are right 5 times of 10"
    assert statistics.mean(returns[-20:]) > 9

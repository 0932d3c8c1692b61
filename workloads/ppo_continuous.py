"""PPO with continuous actions, on Gymnasium's Pendulum-v1 or robots, annotated for rlscope.

    rls-prof python workloads/ppo_continuous.py
    rls-prof python -m rlscope.workloads.ppo_continuous --env-id Walker2d-v5 --total-timesteps 20000

The algorithm is that of ppo_cartpole.py. Here is what continuous actions need: a Gaussian policy,
whose actions are cut to their bounds, and observations and rewards that are scaled as they come in
(Andrychowicz et al. 2020, arXiv:2006.05990, sections 3.3 and 3.5).
MuJoCo's tasks, such as Ant-v5, need gymnasium[mujoco]; PyBullet's, such as Walker2DBulletEnv-v0,
pybullet_envs_gymnasium; LunarLanderContinuous-v3 needs gymnasium[box2d].
"""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box
from torch import Tensor, nn
from torch.distributions import Distribution, Independent, Normal

from rlscope.workloads import ppo_cartpole
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.torch_training import run_training


@dataclass
class Args(ppo_cartpole.Args):
    env_id: str = "Pendulum-v1"
    """environment: any with vectors of numbers to observe and to act"""
    total_timesteps: Count = 200_000
    """environment steps of the whole run, rounded up to whole iterations"""
    num_steps: Count = 256
    """steps of each environment in one iteration"""
    learning_rate: float = 1e-3
    """of Adam at the start; falls linearly to 0"""
    gamma: float = 0.95
    """discount of future rewards"""
    gae_lambda: float = 0.95
    """weight of longer returns in the advantage"""
    update_epochs: Count = 10
    """passes over each rollout"""
    num_minibatches: Count = 16
    """parts of a rollout, one optimizer step each"""


class GaussianAgent(ppo_cartpole.Agent):
    """Networks for the mean of the actions and the value; a deviation that is the same always."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__(observations, actions)
        self.log_deviation = nn.Parameter(torch.zeros(actions))

    def forward(self, observation: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Mean (batch, actions) and deviation (actions,) of the actions, and values (batch,)."""
        mean, value = super().forward(observation)
        return (mean, self.log_deviation.exp()), value


class RunningMoments:
    """Mean and variance of all numbers so far, for each place of an array of shape `shape`."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean = np.zeros(shape)
        self.variance = np.ones(shape)
        self.count = 0

    def add(self, batch: Any) -> None:
        """Adds arrays, whose first dimension is the batch (Chan et al. 1979, equation 1.5)."""
        total = self.count + len(batch)
        difference = batch.mean(axis=0) - self.mean
        own, new = self.count / total, len(batch) / total
        self.variance = (
            (own * self.variance if self.count else 0.0)
            + new * batch.var(axis=0)
            + own * new * difference**2
        )
        self.mean = self.mean + new * difference
        self.count = total


class Scaled(gym.vector.VectorWrapper):  # type: ignore[misc]
    """Observations with mean 0 and variance 1, rewards whose returns have variance 1.

    Actions are cut to their bounds. The returns of episodes, before they are scaled, are noted.
    """

    def __init__(self, envs: Any, gamma: float) -> None:
        super().__init__(envs)
        self.gamma = gamma
        self.actions = envs.single_action_space
        self.observed = RunningMoments(envs.single_observation_space.shape)
        self.discounted = RunningMoments(())
        self.discounted_returns = np.zeros(envs.num_envs)
        self.rewards = np.zeros(envs.num_envs)
        self.returns: list[float] = []

    def reset(self, **options: Any) -> tuple[Any, Any]:
        """First observations, scaled."""
        observation, info = self.env.reset(**options)
        self.observed.add(observation)
        return self._scaled(observation), info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        """A step of all environments, which begin anew in the step that ends an episode."""
        cut = np.clip(action, self.actions.low, self.actions.high)
        observation, reward, terminated, truncated, info = self.env.step(cut)
        done = terminated | truncated
        self.observed.add(observation)
        self.discounted_returns = self.gamma * self.discounted_returns + reward
        self.discounted.add(self.discounted_returns)
        self.rewards += reward
        if done.any():
            self.returns += self.rewards[done].tolist()
            self.rewards[done] = self.discounted_returns[done] = 0.0
            last = info["final_obs"]
            for index in np.flatnonzero(done):
                last[index] = self._scaled(last[index])
        scale = math.sqrt(self.discounted.variance + 1e-8)
        return self._scaled(observation), reward / scale, terminated, truncated, info

    def _scaled(self, observation: Any) -> Any:
        scaled = (observation - self.observed.mean) / np.sqrt(self.observed.variance + 1e-8)
        return scaled.clip(-10.0, 10.0).astype(np.float32)


class Trainer(ppo_cartpole.Trainer):
    """PPO that chooses from numbers."""

    actions = Box

    def make_environments(self) -> Any:
        """Environments with scaled observations and rewards."""
        return Scaled(super().make_environments(), self.args.gamma)

    def make_agent(self) -> nn.Module:
        """Policy and value function with random weights."""
        envs = self.envs
        observations = math.prod(envs.single_observation_space.shape)
        return GaussianAgent(observations, math.prod(envs.single_action_space.shape))

    def policy(self, output: Any) -> Distribution:
        """Independent Gaussians for the numbers of an action."""
        return Independent(Normal(*output), 1)

    def _note_returns(self, *_: Any) -> None:
        """They are those before rewards were scaled."""
        self.returns = self.envs.returns


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO with continuous actions", argv), Trainer)


if __name__ == "__main__":
    main()

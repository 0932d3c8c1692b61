"""What DDPG, TD3 and SAC share, whichever framework computes: options, environment, replay, loop.

class Trainer(continuous_control.Trainer):
    def act(self, observation): ...     # an action of the policy
    def learn(self): ...                # an update with a batch of self.replay

An iteration is one environment step and the update that follows it; the first ones, up to
`learning_starts`, act at random and have no update.
"""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

import rlscope as rls
from rlscope.workloads.arguments import Count
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.replay import Replay
from rlscope.workloads.training_run import iterations, no_operation, seed_everything


@dataclass
class Args:
    seed: int = 1
    """seed of every random number generator"""
    env_id: str = "Pendulum-v1"
    """environment: any with a vector of numbers to observe and one to act, which is bounded"""
    total_timesteps: Count = 8_000
    """environment steps of the whole run"""
    learning_starts: int = 128
    """environment steps with random actions before the first update"""
    buffer_size: Count = 100_000
    """transitions that the replay buffer keeps"""
    batch_size: Count = 128
    """transitions of one update"""
    hidden: Count = 128
    """width of the two hidden layers of every network"""
    learning_rate: float = 1e-3
    """of every Adam"""
    gamma: float = 0.99
    """discount of future rewards"""
    tau: float = 0.005
    """how far the slow networks move towards the networks in one update"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 1000
    """iterations between lines of progress, 0: none"""


@dataclass
class DDPGArgs(Args):
    total_timesteps: Count = 12_000
    """environment steps of the whole run"""
    exploration_noise: float = 0.3
    """standard deviation of what is added to actions, in half ranges of the action space"""


@dataclass
class TD3Args(DDPGArgs):
    policy_noise: float = 0.2
    """standard deviation of what is added to the target's actions, in half ranges"""
    noise_clip: float = 0.5
    """bound of what is added to the target's actions, in half ranges"""
    policy_frequency: Count = 2
    """updates of the critics for each one of the policy and the slow networks"""


class Trainer:
    """One training run; `train` is the loop, `act` and `learn` are the algorithm."""

    def __init__(self, args: Any) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.env = self.make_environment()
        space = self.env.action_space
        space.seed(args.seed)
        self.observations = math.prod(self.env.observation_space.shape)
        self.actions = math.prod(space.shape)
        self.scale = ((space.high - space.low) / 2).flatten().astype(np.float32)
        self.middle = ((space.high + space.low) / 2).flatten().astype(np.float32)
        self.replay = Replay(
            args.buffer_size,
            observation=(np.float32, (self.observations,)),
            action=(np.float32, (self.actions,)),
        )
        self.observation = self._flat(self.env.reset(seed=args.seed)[0])
        self.steps = 0
        self.returns: list[float] = []

    def make_environment(self) -> Any:
        """The environment, which notes the return of each episode."""
        env = gym.wrappers.RecordEpisodeStatistics(gym.make(self.args.env_id))
        require("observations", env.observation_space, Box)
        require("actions", env.action_space, Box)
        if not env.action_space.is_bounded():
            raise gym.error.Error(f"the algorithm needs bounded actions, not {env.action_space}")
        return env

    def train(self) -> None:
        """Runs all iterations."""
        for _ in iterations(self, self.args.total_timesteps):
            self.run_iteration()

    def run_iteration(self) -> None:
        """One step of the environment, then an update."""
        self.step()
        if self.steps > self.args.learning_starts:
            self.learn()

    def step(self) -> None:
        """One step of the environment, kept for replay."""
        with self.operation("inference"):
            if self.steps < self.args.learning_starts:
                action = self.env.action_space.sample()
            else:
                action = self.act(self.observation).reshape(self.env.action_space.shape)
        with self.operation("simulation"):
            following, reward, terminated, truncated, info = self.env.step(action)
            done = terminated or truncated
            first = self.env.reset()[0] if done else following
        # An episode that was cut off would have gone on: only a terminated one is worth 0 then.
        transition = action.flatten(), reward, self._flat(following), terminated
        self.replay.add(self.observation, *transition)
        self.observation = self._flat(first)
        self.steps += 1
        if done:
            self.returns.append(float(info["episode"]["r"]))

    def act(self, observation: Any) -> Any:
        """The action that is tried: arrays of float32, shapes (observations,) and (actions,)."""
        raise NotImplementedError

    def learn(self) -> None:
        """One update with a batch of what was kept."""
        raise NotImplementedError

    def explored(self, action: Any) -> Any:
        """A deterministic policy's action with noise, inside the bounds."""
        noise = np.random.normal(0.0, self.args.exploration_noise, self.actions)
        noisy = action + self.scale * noise.astype(np.float32)
        return np.clip(noisy, self.middle - self.scale, self.middle + self.scale)

    def _flat(self, observation: Any) -> Any:
        return np.asarray(observation, np.float32).flatten()

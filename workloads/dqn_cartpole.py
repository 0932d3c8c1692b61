"""DQN on Gymnasium's CartPole-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/dqn_cartpole.py
    rls-prof python -m rlscope.workloads.dqn_cartpole --env-id Acrobot-v1

Deep Q-learning as in Mnih et al. 2015 (Nature 518, 529-533): experience replay, a target network,
epsilon-greedy exploration. An iteration is `train_every` environment steps and the update that
follows them; the first ones, up to `learning_starts`, have no update.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import math
import random
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

import rlscope as rls
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.replay import Batch, Replay
from rlscope.workloads.torch_training import (
    TorchArgs,
    compiled_step,
    compiler_of,
    on_device,
    run_training,
    seed_everything,
)
from rlscope.workloads.training_run import iterations, no_operation


@dataclass
class Args(TorchArgs):
    seed: int = 1
    """seed of every random number generator"""
    env_id: str = "CartPole-v1"
    """environment: any with a vector of numbers to observe and a choice of actions"""
    total_timesteps: Count = 30_000
    """environment steps of the whole run, rounded up to whole iterations"""
    train_every: Count = 1
    """environment steps of one iteration, which has one update"""
    learning_starts: int = 128
    """environment steps before the first update"""
    buffer_size: Count = 10_000
    """transitions that the replay buffer keeps"""
    batch_size: Count = 64
    """transitions of one update"""
    learning_rate: float = 5e-4
    """of Adam"""
    gamma: float = 0.99
    """discount of future rewards"""
    target_every: Count = 100
    """updates between two copies of the network into the target network"""
    epsilon_end: float = 0.05
    """share of random actions in the end; it falls linearly from 1"""
    exploration_fraction: float = 0.2
    """part of the run in which the share of random actions falls"""
    max_grad_norm: float = 10.0
    """gradients are scaled down to this norm"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 1000
    """iterations between lines of progress, 0: none"""


class QNetwork(nn.Module):  # type: ignore[misc]
    """The value of each action in each observation, shape (batch, actions)."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(observations, 128),
            nn.ReLU(),
            nn.Linear(128, 128),
            nn.ReLU(),
            nn.Linear(128, actions),
        )

    def forward(self, observation: Tensor) -> Tensor:
        """Values of a batch of observations."""
        return self.layers(observation.float())


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.env = self.make_environment()
            require("observations", self.env.observation_space, Box)
            require("actions", self.env.action_space, Discrete)
        self.actions = int(self.env.action_space.n)
        self.device = torch.device(args.device)
        self.network = self.make_network().to(self.device)
        self.target_network = self.make_network().to(self.device)
        self.target_network.load_state_dict(self.network.state_dict())
        adam = torch.optim.Adam(self.network.parameters(), args.learning_rate)
        self.optimizer = compiled_step(adam, args)
        seen = self.env.observation_space
        self.replay = Replay(
            args.buffer_size, observation=(seen.dtype, seen.shape), action=(np.int64, ())
        )
        compiled = compiler_of(args)
        self.values = compiled(self.network)
        self.target = compiled(self._target)
        self.loss = compiled(self._loss)
        self.observation, _ = self.env.reset(seed=args.seed)
        self.steps = self.updates = 0
        self.returns: list[float] = []

    def make_environment(self) -> Any:
        """The environment, which notes the return of each episode."""
        return gym.wrappers.RecordEpisodeStatistics(gym.make(self.args.env_id))

    def make_network(self) -> nn.Module:
        """A network with random weights."""
        return QNetwork(math.prod(self.env.observation_space.shape), self.actions)

    def train(self) -> None:
        """Runs all iterations."""
        count = math.ceil(self.args.total_timesteps / self.args.train_every)
        for _ in iterations(self, count):
            self.run_iteration()

    def run_iteration(self) -> None:
        """Some steps of the environment, then an update."""
        for _ in range(self.args.train_every):
            self.step()
        if self.steps > self.args.learning_starts:
            self.learn()

    def step(self) -> None:
        """One step of the environment, kept for replay."""
        with self.operation("inference"):
            action = self.act(self.observation)
        with self.operation("simulation"):
            following, reward, terminated, truncated, info = self.env.step(action)
            done = terminated or truncated
            first = self.env.reset()[0] if done else following
        # An episode that was cut off would have gone on: only a terminated one is worth 0 then.
        self.replay.add(self.observation, action, reward, following, terminated)
        self.observation = first
        self.steps += 1
        if done:
            self.returns.append(float(info["episode"]["r"]))

    def act(self, observation: Any) -> int:
        """The action of highest value, or with probability epsilon a random one."""
        if random.random() < self._epsilon():
            return random.randrange(self.actions)
        with torch.no_grad():
            values = self.values(torch.as_tensor(observation, device=self.device).unsqueeze(0))
        return int(values.argmax())

    def learn(self) -> None:
        """One step towards the values that the target network expects (equation 2)."""
        args = self.args
        with self.operation("sample"):
            batch = on_device(self.replay.sample(args.batch_size), self.device)
        with self.operation("target"), torch.no_grad():
            target = self.target(batch)
        with self.operation("forward"):
            loss = self.loss(batch, target)
        with self.operation("backprop"):
            self.optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            nn.utils.clip_grad_norm_(self.network.parameters(), args.max_grad_norm)
            self.optimizer.step()
        self.updates += 1
        if self.updates % args.target_every == 0:
            with self.operation("target_update"):
                self.target_network.load_state_dict(self.network.state_dict())

    def _target(self, batch: Batch) -> Tensor:
        """Reward, and discounted value of the best that can be done next."""
        best = self.target_network(batch.following).amax(dim=1)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * best

    def _loss(self, batch: Batch, target: Tensor) -> Tensor:
        """How far the values of what was done are from the target."""
        values = self.network(batch.observation)
        value = values.gather(1, batch.action.unsqueeze(1)).squeeze(1)
        return nn.functional.smooth_l1_loss(value, target)

    def _epsilon(self) -> float:
        falling = self.args.exploration_fraction * self.args.total_timesteps
        done = min(1.0, self.steps / falling) if falling else 1.0
        return 1.0 + done * (self.args.epsilon_end - 1.0)


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DQN", parse_args(Args, "DQN on CartPole", argv), Trainer)


if __name__ == "__main__":
    main()

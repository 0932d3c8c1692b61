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
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

import rlscope as rls
from rlscope.workloads.arguments import Count, Device, parse_args
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.training_run import no_operation, run_training, seed_everything


@dataclass
class Args:
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
    device: Device = "cpu"
    """where the networks are: cpu, cuda, ...; networks this small are faster on a CPU"""
    torch_threads: Count = 1
    """threads of PyTorch; networks this small are slower with more"""
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


class Batch(NamedTuple):
    """Transitions that were drawn together; the first dimension of every tensor is the batch."""

    observation: Tensor
    action: Tensor
    reward: Tensor
    following: Tensor
    terminated: Tensor


class Replay:
    """The last `size` transitions: a new one takes the place of the oldest."""

    def __init__(self, size: int, observations: Box) -> None:
        self.size = size
        self.observation = np.empty((size, *observations.shape), observations.dtype)
        self.action = np.empty(size, np.int64)
        self.reward = np.empty(size, np.float32)
        self.following = np.empty_like(self.observation)
        self.terminated = np.empty(size, np.float32)
        self.added = 0

    def add(self, *transition: Any) -> None:
        """Stores observation, action, reward, following observation, terminated."""
        place = self.added % self.size
        for column, value in zip(self._columns(), transition, strict=True):
            column[place] = value
        self.added += 1

    def sample(self, batch_size: int, device: torch.device) -> Batch:
        """Transitions drawn with equal chances, with replacement."""
        drawn = np.random.randint(min(self.added, self.size), size=batch_size)
        return Batch(*(torch.as_tensor(column[drawn], device=device) for column in self._columns()))

    def _columns(self) -> tuple[Any, ...]:
        return self.observation, self.action, self.reward, self.following, self.terminated


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
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.learning_rate)
        self.replay = Replay(args.buffer_size, self.env.observation_space)
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
        iterations = math.ceil(self.args.total_timesteps / self.args.train_every)
        for iteration in range(iterations):
            if self.args.annotate:
                rls.iteration()
                rls.progress(iteration, iterations)
            self.run_iteration()
            self._print_progress(iteration + 1, iterations)
        if self.args.annotate:
            rls.progress(iterations, iterations)

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
            values = self.network(torch.as_tensor(observation, device=self.device).unsqueeze(0))
        return int(values.argmax())

    def learn(self) -> None:
        """One step towards the values that the target network expects (equation 2)."""
        args = self.args
        with self.operation("sample"):
            batch = self.replay.sample(args.batch_size, self.device)
        with self.operation("target"), torch.no_grad():
            best = self.target_network(batch.following).amax(dim=1)
            target = batch.reward + args.gamma * (1.0 - batch.terminated) * best
        with self.operation("forward"):
            values = self.network(batch.observation)
            value = values.gather(1, batch.action.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(value, target)
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

    def _epsilon(self) -> float:
        falling = self.args.exploration_fraction * self.args.total_timesteps
        done = min(1.0, self.steps / falling) if falling else 1.0
        return 1.0 + done * (self.args.epsilon_end - 1.0)

    def _print_progress(self, done: int, iterations: int) -> None:
        every = self.args.print_every
        if every and (done % every == 0 or done == iterations) and self.returns:
            mean = np.mean(self.returns[-20:])
            print(f"iteration {done}/{iterations}: mean return of 20 episodes {mean:.1f}")


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DQN", parse_args(Args, "DQN on CartPole", argv), Trainer)


if __name__ == "__main__":
    main()

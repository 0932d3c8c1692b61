"""SAC on Gymnasium's Pendulum-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/sac_pendulum.py
    rls-prof python -m rlscope.workloads.sac_pendulum --env-id Hopper-v5 --total-timesteps 5000

Soft actor-critic as in Haarnoja et al. 2018 (arXiv:1812.05905): two critics and their slow copies,
a Gaussian policy squashed by tanh, a temperature that is learned. An iteration is one environment
step and the update that follows it; the first ones, up to `learning_starts`, have no update.
MuJoCo's tasks, such as Hopper-v5, need gymnasium[mujoco].
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box
from torch import Tensor, nn
from torch.distributions import Normal

import rlscope as rls
from rlscope.workloads.arguments import Count, Device, parse_args
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.training_run import no_operation, run_training, seed_everything


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
    """of the three Adams: critics, policy, temperature"""
    gamma: float = 0.99
    """discount of future rewards"""
    tau: float = 0.005
    """how far the slow critics move towards the critics in one update"""
    device: Device = "cpu"
    """where the networks are: cpu, cuda, ...; networks this small are faster on a CPU"""
    torch_threads: Count = 1
    """threads of PyTorch; networks this small are slower with more"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 1000
    """iterations between lines of progress, 0: none"""


class Actor(nn.Module):  # type: ignore[misc]
    """A Gaussian for each dimension of the action, squashed into the bounds of the action space."""

    def __init__(self, observations: int, actions: Box, hidden: int) -> None:
        super().__init__()
        self.layers = _network(observations, 2 * math.prod(actions.shape), hidden)
        high, low = (torch.as_tensor(bound.flatten()) for bound in (actions.high, actions.low))
        self.register_buffer("scale", (high - low).float() / 2)
        self.register_buffer("middle", (high + low).float() / 2)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Sampled actions and their log-probabilities, shape (batch,) (appendix C)."""
        mean, log_std = self.layers(observation).chunk(2, dim=-1)
        gaussian = Normal(mean, log_std.clamp(-20, 2).exp())
        wide = gaussian.rsample()
        # log(1 - tanh(x)^2), in a form that keeps its digits where tanh is close to 1.
        log_slope = 2 * (math.log(2) - wide - nn.functional.softplus(-2 * wide))
        log_prob = gaussian.log_prob(wide) - log_slope - self.scale.log()
        return self.middle + self.scale * wide.tanh(), log_prob.sum(dim=-1)


class Critics(nn.Module):  # type: ignore[misc]
    """Two estimates of the value of an action; the lower one is the less deceived."""

    def __init__(self, observations: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.first = _network(observations + actions, 1, hidden)
        self.second = _network(observations + actions, 1, hidden)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        """Both values of each action in each observation, shape (2, batch)."""
        both = torch.cat([observation, action], dim=-1)
        return torch.stack([self.first(both).squeeze(-1), self.second(both).squeeze(-1)])


class Batch(NamedTuple):
    """Transitions that were drawn together; the first dimension of every tensor is the batch."""

    observation: Tensor
    action: Tensor
    reward: Tensor
    following: Tensor
    terminated: Tensor


class Replay:
    """The last `size` transitions: a new one takes the place of the oldest."""

    def __init__(self, size: int, observations: int, actions: int) -> None:
        self.size = size
        self.columns = [
            np.empty((size, observations), np.float32),
            np.empty((size, actions), np.float32),
            np.empty(size, np.float32),
            np.empty((size, observations), np.float32),
            np.empty(size, np.float32),
        ]
        self.added = 0

    def add(self, *transition: Any) -> None:
        """Stores observation, action, reward, following observation, terminated."""
        place = self.added % self.size
        for column, value in zip(self.columns, transition, strict=True):
            column[place] = value
        self.added += 1

    def sample(self, batch_size: int, device: torch.device) -> Batch:
        """Transitions drawn with equal chances, with replacement."""
        drawn = np.random.randint(min(self.added, self.size), size=batch_size)
        return Batch(*(torch.as_tensor(column[drawn], device=device) for column in self.columns))


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.env = self.make_environment()
        self.env.action_space.seed(args.seed)
        self.device = torch.device(args.device)
        observations = math.prod(self.env.observation_space.shape)
        actions = math.prod(self.env.action_space.shape)
        self.actor = Actor(observations, self.env.action_space, args.hidden).to(self.device)
        self.critics = Critics(observations, actions, args.hidden).to(self.device)
        self.slow_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_temperature = torch.zeros((), device=self.device, requires_grad=True)
        self.target_entropy = -float(actions)
        self.actor_optimizer = self._adam(self.actor.parameters())
        self.critic_optimizer = self._adam(self.critics.parameters())
        self.temperature_optimizer = self._adam([self.log_temperature])
        self.replay = Replay(args.buffer_size, observations, actions)
        first, _ = self.env.reset(seed=args.seed)
        self.observation = first.flatten()
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
        iterations = self.args.total_timesteps
        for iteration in range(iterations):
            if self.args.annotate:
                rls.iteration()
                rls.progress(iteration, iterations)
            self.run_iteration()
            self._print_progress(iteration + 1, iterations)
        if self.args.annotate:
            rls.progress(iterations, iterations)

    def run_iteration(self) -> None:
        """One step of the environment, then an update."""
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
        self.replay.add(self.observation, action.flatten(), reward, following.flatten(), terminated)
        self.observation = first.flatten()
        self.steps += 1
        if done:
            self.returns.append(float(info["episode"]["r"]))

    def act(self, observation: Any) -> Any:
        """An action of the policy, in the beginning a random one."""
        if self.steps < self.args.learning_starts:
            return self.env.action_space.sample()
        seen = torch.as_tensor(observation, dtype=torch.float32, device=self.device)
        with torch.no_grad():
            action, _ = self.actor(seen)
        return action.cpu().numpy().reshape(self.env.action_space.shape)

    def learn(self) -> None:
        """One update of the critics, the policy, the temperature and the slow critics."""
        with self.operation("sample"):
            batch = self.replay.sample(self.args.batch_size, self.device)
        with self.operation("target"), torch.no_grad():
            target = self._target(batch)
        with self.operation("critic"):
            self._learn_critics(batch, target)
        with self.operation("actor"):
            log_prob = self._learn_actor(batch)
        with self.operation("temperature"):
            self._learn_temperature(log_prob)
        with self.operation("target_update"), torch.no_grad():
            pairs = zip(self.slow_critics.parameters(), self.critics.parameters(), strict=True)
            for slow, fast in pairs:
                slow.lerp_(fast, self.args.tau)

    def _target(self, batch: Batch) -> Tensor:
        """Reward, and discounted value and entropy of what follows (equations 2 and 3)."""
        action, log_prob = self.actor(batch.following)
        value = self.slow_critics(batch.following, action).amin(dim=0)
        soft_value = value - self.log_temperature.exp() * log_prob
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * soft_value

    def _learn_critics(self, batch: Batch, target: Tensor) -> None:
        """One step of both critics towards the target (equation 5)."""
        with self.operation("forward"):
            values = self.critics(batch.observation, batch.action)
            loss = (values - target).square().mean(dim=1).sum()
        self._descend(loss, self.critic_optimizer)

    def _learn_actor(self, batch: Batch) -> Tensor:
        """One step towards valuable and varied actions (equation 7); their log-probabilities."""
        with self.operation("forward"):
            action, log_prob = self.actor(batch.observation)
            value = self.critics(batch.observation, action).amin(dim=0)
            loss = (self.log_temperature.exp().detach() * log_prob - value).mean()
        self._descend(loss, self.actor_optimizer)
        return log_prob.detach()

    def _learn_temperature(self, log_prob: Tensor) -> None:
        """One step that raises the temperature where the entropy is too low (equation 18)."""
        with self.operation("forward"):
            loss = -(self.log_temperature.exp() * (log_prob + self.target_entropy)).mean()
        self._descend(loss, self.temperature_optimizer)

    def _descend(self, loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
        with self.operation("backprop"):
            optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            optimizer.step()

    def _adam(self, parameters: Any) -> torch.optim.Adam:
        return torch.optim.Adam(parameters, self.args.learning_rate)

    def _print_progress(self, done: int, iterations: int) -> None:
        every = self.args.print_every
        if every and (done % every == 0 or done == iterations) and self.returns:
            mean = np.mean(self.returns[-20:])
            print(f"iteration {done}/{iterations}: mean return of 20 episodes {mean:.1f}")


def _network(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("SAC", parse_args(Args, "SAC on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()
